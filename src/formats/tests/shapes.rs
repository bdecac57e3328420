//! What is made of well-formed tables: names recognised, columns mapped, several answers a row.

use assize_calibration::judgement::{Choice, Judgement, Order, Verdict};

use super::{Kept, check, read_as};
use crate::formats::fields::Field;
use crate::formats::{LogWriter, Sink as _};

const TWO_ROWS: [&str; 2] = [
    r#"{"item":"q1","judge":"g","verdict":"accept","repeat":1,"label":1}"#,
    r#"{"item":"q1","judge":"g","verdict":"reject","repeat":2,"label":1}"#,
];

#[test]
fn one_log_reads_the_same_in_every_format() {
    check("item,judge,verdict,repeat,label\nq1,g,accept,1,1\nq1,g,reject,2,1\n", "", &TWO_ROWS);
    check("item;judge;verdict;repeat;label\nq1;g;pass;1;1\nq1;g;No;2;1", "", &TWO_ROWS);
    check(
        "\u{feff}Item\tJudge\tVerdict\tRepeat\tLabel\r\nq1\tg\taccept\t1\t1\r\nq1\tg\treject\t2\t1\r\n",
        "",
        &TWO_ROWS,
    );
    let lines = TWO_ROWS.join("\n");
    check(&lines, "", &TWO_ROWS);
    check(format!("[{}]", TWO_ROWS.join(",\n")), "", &TWO_ROWS);
    check(
        "[\n {\n  \"item\": \"q1\", \"judge\": \"g\", \"verdict\": true, \"repeat\": 1, \"label\": true},\n \
         {\"item\": \"q1\",\n \"judge\": \"g\", \"verdict\": 0, \"repeat\": 2.0, \"label\": 1}]",
        "",
        &TWO_ROWS,
    );
    check(
        "{\n \"item\": \"q1\",\n \"score\": 7\n}\n{\n \"item\": \"}\\\"{\",\n \"score\": 8\n}\n",
        "judge='j'",
        &[r#"{"item":"q1","judge":"j","score":7.0}"#, r#"{"item":"}\"{","judge":"j","score":8.0}"#],
    );
}

#[test]
fn every_field_of_the_plain_log_comes_back() {
    let line = r#"{"item":"q","judge":"j","score":3.5,"repeat":2,"order":"ba","place":3,"arm":"t0","dimension":"d","label":4,"rater":"r","group":"g","content":"c","confidence":0.5,"length_a":10.0,"length_b":12.0,"generator":"m","generator_b":"n","weight":2.5,"tokens_in":5,"tokens_out":6,"price":0.25,"latency_ms":8.0,"time":"2026-01-01T00:00:00Z","raw":"R","error":"E"}"#;
    check(line, "", &[line]);
}

#[test]
fn marks_of_style_are_read_and_written_by_their_names() {
    let table =
        "item,score,style_bold,Style Lists_a,style_lists_b,style_\nq,3,2,1,0.5,9\nr,4,x,,,\ns,5,0,,2,\nt,6,,7,,\n";
    let kept = read_as(table, "");
    let marks = |row_idx: usize| {
        kept.rows[row_idx].0.style.iter().map(|mark| (mark.name.as_ref(), mark.a, mark.b)).collect::<Vec<_>>()
    };
    assert_eq!(marks(0), [("bold", Some(2.0), None), ("lists", Some(1.0), Some(0.5))]);
    assert_eq!(marks(1), []);
    assert_eq!(marks(2), [("bold", Some(0.0), None), ("lists", None, Some(2.0))]);
    assert_eq!(marks(3), [("lists", Some(7.0), None)]);
    assert_eq!(kept.codes(), [("bad-number", 1, 3)]);
    let kept_as = |name: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let mut writer = LogWriter::create(&path).unwrap();
        kept.rows.iter().for_each(|(row, line)| writer.judgement(row, *line).unwrap());
        writer.finish().unwrap();
        std::fs::read_to_string(&path).unwrap()
    };
    let lines = kept_as("log.jsonl");
    assert!(lines.starts_with(
        "{\"item\":\"q\",\"judge\":\"judge-x\",\"score\":3.0,\"style_bold\":2.0,\"style_lists_a\":1.0,\"style_lists_b\":0.5}\n"
    ));
    let table = kept_as("log.csv");
    assert!(table.starts_with(
        "item,judge,score,style_bold,style_lists_a,style_lists_b,style_lists\nq,judge-x,3,2,1,0.5,\nr,judge-x,4,,,,\n"
    ));
    for text in [lines, table] {
        let again = read_as(text, "");
        let rows = |kept: &Kept| kept.rows.iter().map(|(row, _)| row.style.clone()).collect::<Vec<_>>();
        assert_eq!(rows(&again), rows(&kept));
    }
}

#[test]
fn the_file_names_the_judge_where_no_column_does() {
    check("item,score\nq,3\n", "", &[r#"{"item":"q","judge":"judge-x","score":3.0}"#]);
    check("item,score,rater\nq,3,ann\n", "", &[r#"{"item":"q","score":3.0,"rater":"ann"}"#]);
}

#[test]
fn repeats_are_kept_as_they_are_counted() {
    check(
        "item,repeat,score\na,0,1\na,0.0,2\na,1,3\na,,4\n",
        "judge='j'",
        &[
            r#"{"item":"a","judge":"j","score":1.0,"repeat":0}"#,
            r#"{"item":"a","judge":"j","score":2.0,"repeat":0}"#,
            r#"{"item":"a","judge":"j","score":3.0,"repeat":1}"#,
            r#"{"item":"a","judge":"j","score":4.0}"#,
        ],
    );
    let numbers = ["0", "\"0\"", "0.0", "-0.0", "4294967294", "1.5", "-1", "4294967295", "true"];
    let lines = numbers.map(|n| format!("{{\"item\":\"a\",\"score\":1,\"repeat\":{n}}}\n"));
    let kept = read_as(lines.concat(), "");
    let repeats: Vec<_> = kept.rows.iter().map(|(row, _)| row.repeat).collect();
    assert_eq!(repeats, [Some(0), Some(0), Some(0), Some(0), Some(u32::MAX - 1)]);
    assert_eq!(kept.codes(), [("bad-repeat", 4, 6)]);
}

#[test]
fn a_judge_s_answer_is_recognised_beside_the_ratings_of_people() {
    let kept = read_as("item,score,topic,h1,h2\na,3,x,4,5\n", "raters=[h1,h2]");
    let judged = |row: &&(Judgement<'static>, u64)| row.0.rater.is_none();
    assert_eq!((kept.rows.len(), kept.rows.iter().filter(judged).count()), (3, 1));
    let kept = read_as("{\"item\":\"a\",\"category\":\"x\",\"h1\":4,\"h2\":5}\n", "raters=[h1,h2]");
    assert_eq!((kept.rows.len(), kept.rows.iter().filter(judged).count()), (2, 0), "a topic is no answer");
}

#[test]
fn the_own_name_of_a_field_comes_before_another_spelling() {
    for text in ["item,score,Label,label\na,1,0,1\n", "{\"item\":\"a\",\"score\":1,\"Label\":0,\"label\":1}\n"] {
        let kept = read_as(text, "");
        assert_eq!(kept.rows[0].0.label.as_ref().map(|label| label.0.as_ref()), Some("1"), "{text}");
    }
}

#[test]
fn names_are_recognised_and_said() {
    let kept = read_as("question_id,model,epoch,rating,gold,notes\nq,m,0,3,4,x\nq,m,1,5,4,y\n", "");
    assert_eq!(
        kept.json(),
        [
            r#"{"item":"q","judge":"m","score":3.0,"repeat":0,"label":4}"#,
            r#"{"item":"q","judge":"m","score":5.0,"repeat":1,"label":4}"#,
        ]
    );
    let messages: Vec<_> = kept.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(
        messages[0],
        "read as: item = question_id, judge = model, score = rating, repeat = epoch, label = gold (to change it: --columns)"
    );
    assert_eq!(messages[1], "columns not used: notes");
    assert_eq!(kept.codes(), []);
    // The topic of an item is no outcome beside a score.
    check("item,score,category\nq,3,maths\n", "judge='j'", &[r#"{"item":"q","judge":"j","score":3.0}"#]);
    check("item,category\nq,maths\n", "judge='j'", &[r#"{"item":"q","judge":"j","category":"maths"}"#]);
}

#[test]
fn columns_are_joined_renamed_and_constant() {
    check(
        "row,k,s1,s2,ok\n0,1,7,,1\n",
        "item=row+k, repeats=s1..s2, label=ok, arm='t0.7', judge='j', group=row",
        &[
            r#"{"item":"0/1","judge":"j","score":7.0,"repeat":1,"arm":"t0.7","label":1,"group":"0"}"#,
            r#"{"item":"0/1","judge":"j","repeat":2,"arm":"t0.7","label":1,"group":"0"}"#,
        ],
    );
    check(
        "q,s1,s2\na,7,\n",
        "item=q, repeats=[s1, s2], empty=skip, judge='j'",
        &[r#"{"item":"a","judge":"j","score":7.0,"repeat":1}"#],
    );
    check(
        "q,all\na,A - tie B\n",
        "item=q, repeats_in=all, outcome=choice, judge='j'",
        &[
            r#"{"item":"a","judge":"j","choice":"a","repeat":1}"#,
            r#"{"item":"a","judge":"j","repeat":2}"#,
            r#"{"item":"a","judge":"j","choice":"tie","repeat":3}"#,
            r#"{"item":"a","judge":"j","choice":"b","repeat":4}"#,
        ],
    );
    check(
        r#"{"q":"a","r":{"scores":[7,null,8.5]}}"#,
        "item=q, repeats_in=r.scores, judge='j'",
        &[
            r#"{"item":"a","judge":"j","score":7.0,"repeat":1}"#,
            r#"{"item":"a","judge":"j","repeat":2}"#,
            r#"{"item":"a","judge":"j","score":8.5,"repeat":3}"#,
        ],
    );
    check(
        "q,clear,short\na,3,4\n",
        "item=q, dimensions=[clear, short], judge='j'",
        &[
            r#"{"item":"a","judge":"j","score":3.0,"dimension":"clear"}"#,
            r#"{"item":"a","judge":"j","score":4.0,"dimension":"short"}"#,
        ],
    );
}

#[test]
fn two_orders_in_two_columns_are_brought_to_the_candidates() {
    let map = "item=i, order_ab=o1, order_ba=o2, as_shown=order_ba, outcome=choice, values={0=a, 1=b, 2=tie}, label=l, \
               label_values={0=a, 1=b, 2=tie}, judge='j'";
    check(
        "i,l,o1,o2\nx,1,0,0\n",
        map,
        &[
            r#"{"item":"x","judge":"j","choice":"a","order":"ab","label":"b"}"#,
            r#"{"item":"x","judge":"j","choice":"b","order":"ba","label":"b"}"#,
        ],
    );
    check(
        "i,w1,w2\nx,A>B,A>B\n",
        "item=i, order_ab=w1, order_ba=w2, outcome=choice, judge='j'",
        &[
            r#"{"item":"x","judge":"j","choice":"a","order":"ab"}"#,
            r#"{"item":"x","judge":"j","choice":"a","order":"ba"}"#,
        ],
    );
}

#[test]
fn candidates_shown_first_and_second_by_name() {
    let kept = read_as(
        "q,x,y,verdict,judge,label\n1,vic,alp,A,g,vic\n1,alp,vic,B,g,alp\n1,alp,vic,C,g,\n1,alp,alp,A,g,\n1,alp,vic,vic,g,\n",
        "item=q, first=x, second=y",
    );
    let rows: Vec<_> = kept.rows.iter().map(|(row, _)| (row.item.as_ref(), row.order, row.choice)).collect();
    assert_eq!(
        rows,
        [
            ("1/alp/vic", Some(Order::Ba), Some(Choice::B)),
            ("1/alp/vic", Some(Order::Ab), Some(Choice::B)),
            ("1/alp/vic", Some(Order::Ab), Some(Choice::Tie)),
            ("1/alp/vic", Some(Order::Ab), Some(Choice::B)),
        ]
    );
    let labels: Vec<_> = kept.rows.iter().map(|(row, _)| row.label.as_ref().map(|l| l.0.to_string())).collect();
    assert_eq!(labels, [Some("b".to_owned()), Some("a".to_owned()), None, None]);
    let makers: Vec<_> =
        kept.rows.iter().map(|(row, _)| (row.generator.as_deref(), row.generator_b.as_deref())).collect();
    assert_eq!(makers, [(Some("alp"), Some("vic")); 4]);
    assert_eq!(kept.codes(), [("same-candidates", 1, 5)]);
}

#[test]
fn an_order_may_be_the_maker_of_the_candidate_shown_first() {
    let kept = read_as(
        "item,generator,generator_b,shown_first,choice\n1,vic,alp,vic,a\n1,vic,alp,alp,a\n1,vic,alp,bob,a\n1,vic,vic,vic,a\n1,vic,alp,ba,a\n",
        "order=shown_first",
    );
    let orders: Vec<_> = kept.rows.iter().map(|(row, _)| row.order).collect();
    assert_eq!(orders, [Some(Order::Ab), Some(Order::Ba), None, None, Some(Order::Ba)]);
    assert_eq!(kept.codes(), [("unknown-order", 2, 4)]);
}

#[test]
fn a_weight_is_above_0() {
    let kept = read_as("item,score,weight\na,1,2.5\nb,2,0\nc,3,-1\nd,4,\ne,5,nan\n", "");
    let weights: Vec<_> = kept.rows.iter().map(|(row, _)| row.weight).collect();
    assert_eq!(weights, [Some(2.5), None, None, None, None]);
    assert_eq!(kept.codes(), [("bad-number", 3, 3)]);
    let kept = read_as("item,score,share\na,1,2.5\n", "weight=share");
    assert_eq!(kept.rows[0].0.weight, Some(2.5));
}

#[test]
fn a_place_without_an_order_is_not_guessed_when_an_order_is_stated_wrongly() {
    let kept = read_as("item,order,chosen_position\na,ab,first\na,ba,first\na,zz,first\n", "");
    let choices: Vec<_> = kept.rows.iter().map(|(row, _)| row.choice).collect();
    assert_eq!(choices, [Some(Choice::A), Some(Choice::B), None]);
    assert_eq!(kept.codes(), [("unknown-order", 1, 4), ("place-without-order", 1, 4)]);
    assert_eq!(read_as("item,chosen_position\na,2\n", "").codes(), [("order-assumed", 1, 2)]);
}

#[test]
fn judges_and_people_in_columns() {
    check(
        "id,j1,j2,h1,h2\nq,yes,no,yes,\n",
        "item=id, judges=[j1, j2], raters=h1..h2, outcome=verdict",
        &[
            r#"{"item":"q","judge":"j1","verdict":"accept"}"#,
            r#"{"item":"q","judge":"j2","verdict":"reject"}"#,
            r#"{"item":"q","verdict":"accept","repeat":1,"rater":"h1"}"#,
        ],
    );
    check(
        "id,all\nq,3 - 5\n",
        "item=id, ratings_in=all",
        &[
            r#"{"item":"q","score":3.0,"repeat":1,"rater":"rater 1"}"#,
            r#"{"item":"q","score":5.0,"repeat":1,"rater":"rater 3"}"#,
        ],
    );
    check(
        "item,judge,choice\nq,human,a\nq,g,b\nq,human,b\n",
        "people=human",
        &[
            r#"{"item":"q","choice":"a","rater":"human 1"}"#,
            r#"{"item":"q","judge":"g","choice":"b"}"#,
            r#"{"item":"q","choice":"b","rater":"human 2"}"#,
        ],
    );
    check(
        "item,score,h1\nq,4,5\n",
        "raters=h1, judge='j', score=score",
        &[r#"{"item":"q","judge":"j","score":4.0}"#, r#"{"item":"q","score":5.0,"repeat":1,"rater":"h1"}"#],
    );
}

#[test]
fn a_rating_in_a_column_belongs_to_the_item_not_to_the_row() {
    check(
        "item,arm,repeat,order,dimension,group,price,raw,error,confidence,choice,h\nq,t0,2,ba,d,g,3,R,E,0.5,a,b\n",
        "raters=h, judge='j', choice=choice",
        &[
            r#"{"item":"q","judge":"j","choice":"a","repeat":2,"order":"ba","arm":"t0","dimension":"d","group":"g","confidence":0.5,"price":3.0,"raw":"R","error":"E"}"#,
            r#"{"item":"q","choice":"b","repeat":1,"dimension":"d","rater":"h","group":"g"}"#,
        ],
    );
    // A rating that names a place still needs the order of its row.
    check(
        "item,order,chosen_position,h\nq,ba,first,second\n",
        "raters=h, judge='j', chosen_position=chosen_position",
        &[
            r#"{"item":"q","judge":"j","choice":"b","order":"ba"}"#,
            r#"{"item":"q","choice":"a","repeat":1,"rater":"h"}"#,
        ],
    );
}

#[test]
fn preferences_filters_and_vocabularies() {
    check(
        "i,cfg,p\na,x,1.0000001\nb,x,1.5\nc,x,1.9\nd,y,2\n",
        "item=i, judge=cfg, preference=p, where={cfg=x}",
        &[
            r#"{"item":"a","judge":"x","choice":"a"}"#,
            r#"{"item":"b","judge":"x","choice":"tie"}"#,
            r#"{"item":"c","judge":"x","choice":"b"}"#,
        ],
    );
    let kept = read_as("i,v\na,N\nb,1_ok\n", "item=i, verdict=v, values={N=unparsed, 1_ok=accept}");
    assert!(kept.rows[0].0.is_unparsed() && kept.rows[0].0.raw.as_deref() == Some("N"));
    assert_eq!((kept.rows[1].0.verdict, kept.codes().len()), (Some(Verdict::Accept), 0));
}

#[test]
fn a_label_outside_the_vocabulary_and_duplicates_are_passed_on() {
    let kept = read_as("item,verdict,label\na,accept,maybe\na,accept,maybe\n", "");
    assert_eq!(kept.rows.len(), 2);
    assert_eq!(kept.rows[0].0.label.as_ref().map(|label| label.0.as_ref()), Some("maybe"));
}

#[test]
fn every_name_that_is_recognised_is_documented() {
    let docs = include_str!("../../../docs/reference/log.md");
    for field in Field::ALL {
        for name in field.names() {
            assert!(docs.contains(&format!("`{name}`")), "`{name}` is not in docs/reference/log.md");
        }
    }
}
