from explore import *
P=lambda k:('P',k); D=lambda k:('D',k)
d=lambda *o:('D',tuple(o)); y=lambda *o:('Y',tuple(o)); CL=('clean',); ro=('roll',); cl=('close',); ck=('ck',); pr=('prep',)
cm=lambda w:('cmp',w)
A1=[CL,y(P(1)),d(P(2))]; A2=[CL,cl]; A3=[CL,d(D(1)),ro,y(P(2)),cl]; A4=[CL,ck,y(P(1))]; A5=[CL,y(P(1)),ro,cm('all'),d(P(2))]
SC={
 'plain':([[d(P(1)),y(P(1),P(2)),d(D(1)),cl]],[[A1,A2,A3]]),
 'roll':([[d(P(1)),y(P(2)),ro,y(D(1)),d(P(1))]],[[A1,A2]]),
 'roll2':([[y(P(1)),ro,y(P(1)),ro,d(P(2)),y(D(2))]],[[A1,A3]]),
 'reopen':([[CL,y(P(1)),y(P(2)),ro,y(P(2)),pr]],[[A1,A3]],[[d(P(1)),pr,cl]]),
 'ckpt':([[d(P(1)),y(P(2)),ck,y(D(1)),ck,d(P(1))]],[[A1,A4]]),
 'comp':([[d(P(1)),y(P(2)),ro,y(D(1)),cm('all'),d(P(2))]],[[A1,A5]]),
 'tomb':([[CL,ro,d(D(1)),ro,y(P(2)),cm([1]),cm([0]),cm('all')]],[[A1,A5]],[[d(P(1)),d(P(2)),pr]]),
 'tomb2':([[CL,cm([0]),y(D(1)),ro,cm([0]),cm('all'),y(P(2))]],[[A1,A5]],[[d(P(1),P(2)),ro,y(P(2)),ro,y(P(2)),ck]]),
 'adopt':([[CL,y(D(1)),ro,cm([0]),y(P(2)),ro,cm([1]),d(P(1)),cm('all')]],[[A1,A5,A4]],[[d(P(1)),d(P(1),P(2)),ck,ro]]),
}
CON={
 'con_adopt':([[CL,d(D(1)),ck,y(P(2)),ck,y(D(2)),ro],[cm('all')]],[[A1,A5]],[[d(P(1)),d(P(2)),ck,ro]]),
 'con_cmp':([[CL,y(D(1)),d(P(2)),y(P(1)),ro,y(P(1))],[cm('all')]],[[A1]],[[d(P(1)),d(P(2)),ro]]),
 'con_ck':([[CL,y(D(1)),d(P(2)),y(P(1)),ro,y(P(1))],[ck,ck]],[[A1]],[[d(P(1)),d(P(2))]]),
}
def run(name,F={},budget=60,first=False,rots=True,faults=(None,),lim=120,switches=1,deep=None):
    s=(SC.get(name) or CON[name]); nxt=s[1] if deep is None else s[1]+deep
    x=Ex(F,budget=budget,first=first,rots=rots)
    x.go(s[0],nxt,switches=switches if len(s[0])>1 else 0,faults=faults,lim=lim,pre=s[2] if len(s)>2 else ())
    return x
if __name__=='__main__':
    import sys
    for n in sys.argv[2:]:
        t=time.time(); x=run(n,budget=float(sys.argv[1]))
        print(n,x.n,'complete' if x.full else 'budget','%.0fs'%(time.time()-t))
        for k,v in x.viol.items(): print('   ',v)
