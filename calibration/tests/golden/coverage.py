"""Prints the simulated coverage that docs/explanation/pass-rate.md and stopping-early.md quote.

The formulas are those of calibration/src/prevalence.rs and sequential.rs, written out in numpy, where 40,000 runs take seconds; the Rust
tests simulate the library itself with fewer. numpy 2.4.6, scipy 1.17.1. Nothing reads the output.
"""
import numpy as np
from scipy import stats
rng=np.random.default_rng(11)
def lr(x,n,a,ns,r,nsp,level=.95):
    z = stats.norm.ppf(0.5 + level / 2)
    se, sp, ap = (a + 1) / (ns + 2), (r + 1) / (nsp + 2), (x + z**2 / 2) / (n + z**2)
    p = (ap + sp - 1) / (se + sp - 1)
    v_se, v_sp, v_ap = se * (1 - se) / (ns + 2), sp * (1 - sp) / (nsp + 2), ap * (1 - ap) / (n + z**2)
    s = 2 * z**2 * (p * v_se - (1 - p) * v_sp)
    h = z * np.sqrt(v_ap + p**2 * v_se + (1 - p) ** 2 * v_sp) / (se + sp - 1)
    return np.clip(p+s-h,0,1),np.clip(p+s+h,0,1)
def cp(k,n,level=.95):
    return np.nan_to_num(stats.beta.ppf((1-level)/2,k,n-k+1),nan=0.),np.nan_to_num(stats.beta.ppf((1+level)/2,k+1,n-k),nan=1.)
def mover(x,n,a,ns,r,nsp):
    g=lambda p,se,sp:(p+sp-1)/(se+sp-1)
    P,A,R=x/n,a/ns,r/nsp; e=g(P,A,R); down=up=0
    for ends in ([g(p,A,R) for p in cp(x,n)],[g(P,q,R) for q in cp(a,ns)],[g(P,A,q) for q in cp(r,nsp)]):
        down=down+np.maximum(e-np.minimum(*ends),0)**2; up=up+np.maximum(np.maximum(*ends)-e,0)**2
    return np.clip(e-np.sqrt(down),0,1),np.clip(e+np.sqrt(up),0,1)
def wl(k,n,z=1.959964):
    p=k/n; return (p+z*z/2/n - z*np.sqrt(p*(1-p)/n+z*z/4/n/n))/(1+z*z/n)
for P,se,sp,n,m in [(.5,.9,.8,200,50),(.8,.95,.7,100,40),(.1,.85,.9,300,100),(.5,.9,.8,1000,20),(.02,.9,.95,1000,50),(.95,.8,.7,300,40),(.3,.7,.65,500,50),(.6,.98,.97,500,30)]:
    R=40000
    x=rng.binomial(n,P*se+(1-P)*(1-sp),R);a=rng.binomial(m,se,R);r=rng.binomial(m,sp,R)
    l,h=lr(x,n,a,m,r,m)
    jl=a/m+r/m-1-np.hypot(a/m-wl(a,m),r/m-wl(r,m)); ni=jl<=0
    l=np.where(ni,0,l);h=np.where(ni,1,h)
    with np.errstate(all='ignore'): ml,mh=mover(x,n,a,m,r,m)
    # Where a rate's end leaves no J, nothing is identified either.
    mi=ni|(cp(a,m)[0]+r/m<=1)|(a/m+cp(r,m)[0]<=1); ml=np.where(mi,0,ml);mh=np.where(mi,1,mh)
    print('MOVER','cover',(1-(ml>P).mean()-(mh<P).mean()).round(4),'low>',(ml>P).mean().round(4),'high<',(mh<P).mean().round(4),'width',(mh-ml).mean().round(3))
    print(P,se,sp,n,m,'cover',(1-(l>P).mean()-(h<P).mean()).round(4),'low>',(l>P).mean().round(4),'high<',(h<P).mean().round(4),'not id',ni.mean().round(3),'width',(h-l).mean().round(3))
def seq(X,truth,alpha=.05,planned=100):
    R,T=X.shape
    s=np.zeros(R);q=np.zeros(R);up=np.ones(R);dn=np.ones(R)
    bets=np.zeros(R);bv=np.zeros(R);cost=np.zeros(R)
    miss=np.zeros((3,R),bool)
    lh=np.log(2/alpha);lt=np.log(1/alpha)
    rho=planned/4/(2*lt+np.log1p(2*lt))
    for t in range(1,T+1):
        x=X[:,t-1]; mb=(.5+s)/t; vb=(.25+q)/t; lam=np.sqrt(2*lh/(vb*t*np.log1p(t)))
        s+=x; m=(.5+s)/(t+1); q+=(x-m)**2
        up*=1+np.minimum(lam,.5/truth)*(x-truth); dn*=1-np.minimum(lam,.5/(1-truth))*(x-truth)
        miss[0]|=np.maximum(up,dn)>2/alpha
        l=np.minimum(lam,.5);bets+=l;bv+=l*x;cost+=(x-mb)**2*(-np.log1p(-l)-l)
        miss[1]|=np.abs(bv/bets-truth)>(lh+cost)/bets
        v=t/4; miss[2]|=np.abs(s/t-truth)>np.sqrt((v+rho)*(np.log1p(v/rho)+2*lt))/t
    return miss.mean(1).round(4)
for P in (.02,.5,.9,.99):
    print(P,seq((rng.random((4000,1000))<P).astype(float),P))
c=np.where(rng.random((4000,1000))<.5,1,.5); print('repeats',seq(rng.binomial(4,c)/4,.75))
k=(rng.random((4000,125))<.5).astype(float).repeat(8,1); print('single judgements',seq(k,.5))

print('PPI++: t alone; with m - 2; with one cluster more like the farthest; both; with one cluster more, as Wilson')
for n,N,tpr,fpr,R in [(50,500,.97,.03,.8),(100,1000,.95,.05,.8),(100,1000,.9,.1,.8),(60,200,.85,.25,.7),(30,300,.9,.2,.7),(30,300,.98,.3,.9),(200,800,.97,.1,.8)]:
    miss=np.zeros((5,2)); w=np.zeros(5); reps=4000
    for _ in range(reps):
        t=rng.random(n+N)<R; f=np.where(t,rng.random(n+N)<tpr,rng.random(n+N)<fpr)
        y=t[:n].astype(float);a=f[:n].astype(float);b=f[n:].astype(float)
        va=np.var(np.r_[a,b],ddof=1)
        lam=np.clip(np.cov(y,a)[0,1]/((1+n/N)*va),0,1) if va>0 else 0
        e=y.mean()+lam*(b.mean()-a.mean()); r=y-lam*a; d=r-r.mean()
        vl=d@d*n/(n-1)/n**2; vu=lam**2*b.var(ddof=1)/N
        for k in range(5):
            v1=vl
            if k==1: v1=vl*(n-1)/(n-2)
            if k in (2,4): v1=vl+(d*d).max()/n**2
            if k==3: v1=vl*(n-1)/(n-2)+(d*d).max()/n**2
            v=v1+vu
            if vl<1e-24: half=np.hypot(1-.025**(1/n), 1.96*np.sqrt(vu))
            else: half=stats.t.ppf(.975,(v*v/(v1*v1/(n-1)+vu*vu/(N-1))))*np.sqrt(v)
            low,high=e-half,e+half
            if k==4 and vl>=1e-24:
                p=min(max(e,0),1); size=min(max(p*(1-p)/v,1),n+N) if 0<p<1 else n; q=(half/np.sqrt(v))**2/size
                c=(p+q/2)/(1+q); d1=np.sqrt(p*(1-p)*q+q*q/4)/(1+q); low,high=c-d1,c+d1
            miss[k,0]+=low>R; miss[k,1]+=high<R; w[k]+=high-low
    print(n,N,tpr,fpr,R,'cover',(1-miss.sum(1)/reps).round(3),'high/low',(miss/reps).round(3).tolist(),'w',(w/reps).round(3))
