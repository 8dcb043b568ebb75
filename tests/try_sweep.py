import sys, time, numpy as np, torch
sys.path.insert(0,'/work/main')
import importlib.util
def load(p,n):
    s=importlib.util.spec_from_file_location(n,p); m=importlib.util.module_from_spec(s); s.loader.exec_module(m); return m
ways=load('/work/main/harness/frameworks/torch/sweep.py','ways'); swept=load('/work/main/harness/swept.py','swept')
from harness.sweep import draw, explore
from harness.sweep.op import *
import ml_dtypes
TD={"float64":torch.float64,"float32":torch.float32,"bfloat16":torch.bfloat16,"float16":torch.float16}
def asker(fn, gradient=True):
    def ask(examples):
        out=[]
        for e in examples:
            t={}
            for n,v in e.asked.tensors.items():
                v=v/2 if (e.use=="chain" and n in e.floats) else v
                v=carrier(v,e.layouts[n])
                t[n]=torch.from_numpy(np.ascontiguousarray(v)).to(TD[e.dtype]) if n in e.floats else torch.from_numpy(v)
            t["upstream"]=torch.from_numpy(e.upstream.copy()).to(TD[e.dtype])
            ex=dict(tensors={n:v.shape for n,v in e.asked.tensors.items()},floats=e.floats,layouts=e.layouts,use=e.use,attributes=e.asked.attributes,gradient=gradient)
            try:
                r=swept.one(ex,t,None,ways,fn,compiled=False)
                out.append(explore.Reply(end="answer",arrays={k:v.detach().double().numpy() for k,v in r.items() if v is not None}))
            except Exception as x: out.append(explore.Reply(end="raised",message=str(x)[:200]))
        return out
    return ask
softmax=Op(cancels=lambda a,dy:(lambda y:{"x":y*np.max(dy)})((lambda e:e/e.sum(a.attributes["axis"],keepdims=True))(np.exp(a.tensors["x"]-a.tensors["x"].max(a.attributes["axis"],keepdims=True)))),forward=lambda x,axis:(lambda e:e/e.sum(axis,keepdims=True))(np.exp(x-x.max(axis,keepdims=True))), takes=lambda d:(lambda s:Asked(tensors={"x":d.floats(*s,styles=("grid","normal",*(("large",) if d.wide else ())))},attributes={"axis":d.axis(len(s))}))(d.shape()))
relu=Op(forward=lambda x:np.maximum(x,0), takes=lambda d:Asked(tensors={"x":d.floats(*d.shape(),styles=("grid","ties","nan"))}))
mm=Op(forward=lambda a,b:a@b, takes=lambda d:(lambda m,k,n:Asked(tensors={"a":d.floats(m,k),"b":d.floats(k,n)}))(d.whole(1,4),d.whole(1,4),d.whole(1,4)),terms=lambda a:a.tensors["a"].shape[-1])
total=Op(forward=lambda x,axis:x.sum(axis), takes=lambda d:(lambda s:Asked(tensors={"x":d.floats(*s,styles=("grid","ones","nan"))},attributes={"axis":d.axis(len(s))}))(d.choose((3,),(2,3),(2,3,4),(2,4096))),terms=lambda a:a.tensors["x"].shape[a.attributes["axis"]])
cases={"softmax":(softmax,lambda x,axis:torch.softmax(x,axis)),"relu":(relu,torch.relu),"mm":(mm,lambda a,b:a@b),"sum":(total,lambda x,axis:x.sum(axis)),
 "softmax nograd":(softmax,lambda x,axis:torch.softmax(x.detach(),axis)+0*x),"softmax contig":(softmax,lambda x,axis:torch.softmax(x.as_strided(x.shape,torch.empty(x.shape).stride()),axis)),
 "gelu tanh":(Op(forward=lambda x:0.5*x*(1+np.tanh(np.sqrt(2/np.pi)*(x+0.044715*x**3))),takes=lambda d:Asked(tensors={"x":d.floats(*d.shape())})),lambda x:torch.nn.functional.gelu(x)),
 "sum16":(total,lambda x,axis:(torch.cumsum(x,axis).select(axis,-1)))}
for name,(op,fn) in cases.items():
    t=time.process_time()
    r=explore.explore(op,asker(fn),dtypes=("float64","float32","bfloat16","float16"),layouts=ways.LAYOUTS,count=60)
    print(name,r.asked,r.answered,round(time.process_time()-t,2))
    for f in r.found: print('   ',f.fault.kind,f.of,f.example.told(),f.fault.what,f.fault.got,f.fault.want,f.fault.ratio, f.fault.where, {k:v.tolist() for k,v in f.example.asked.tensors.items()} if f.example.asked.tensors[list(f.example.asked.tensors)[0]].size<20 else '')
