"""Executable model of design.md section 3.  fs + recovery + engine (generators: every yield is a crash/scheduling point)."""
import itertools
BASE = dict(
  next_as='next',        # 'next': listed as a segment before use | 'preparing': only in preparing (deleted by open)
  salt='manifest',       # where the frame salt can be learnt: 'header' | 'manifest' (too)
  new_seg='fresh',       # after unclean open: 'fresh' new id | 'next' = the segment prepared in advance is used
  rewrite='first',       # 'first': at first change after unclean open | 'claim': before any durability claim | 'disk': only before .disk ack | 'none'
  end_is_proof=False,    # manifest's logical ends read as proof
  ckpt_sync=True,        # log synced through the checkpoint's position before it is named
  old_ckpt='listed',     # fallback checkpoint usable: 'listed' (all its segments + whole chain from its position listed) | 'exists' (files exist)
  open_dirsync=True,     # directory synced before open deletes anything
  drop_after_sync=True,  # entry leaves removable/preparing only after directory sync behind unlink
  prep_first=True,       # name durable in manifest before the file is created
  clean='size+next',     # clean open: 'size+next' | 'size' | 'flag'
  crc_payload=True,      # header CRC (so the running CRC) covers the payload CRC
  bgsync='queue',        # background log syncs go through the commit queue | 'direct'
  close_unclean='settle',# close after unclean open without commit: 'settle' | 'literal' (sync, manifest end as proof, no rewrite) | 'noop'
  tomb='rule',           # 'rule' | 'naive' (drop when id is not in the table)
  abandon='removable',   # abandoned successor after a cut: 'removable' | 'forget'
  bad_order='',          # 'delete_first','manifest_before_output','no_log_sync','serial_off'
  install='beside',      # output of a compaction: 'beside' (a manifest lists it beside its inputs, then locations move) | 'once' (one manifest for all)
  adopt='same',          # segment that a checkpoint does not know: 'same' (a copy counts only where the state has its version) | 'newest' (wherever it is not older)
  poison=True, rewrite_dirsync=True,
  seed_manifest_first=True,
)
class Poison(Exception): pass
class FS:
    __slots__ = ('f', 'dd', 'dc', 'dp', 'n')
    def __init__(s): s.f = {}; s.dd = {}; s.dc = {}; s.dp = []; s.n = 0
    def clone(s):
        o = FS(); o.f = {i: (dict(d), list(p), dict(c)) for i, (d, p, c) in s.f.items()}
        o.dd = dict(s.dd); o.dc = dict(s.dc); o.dp = list(s.dp); o.n = s.n; return o
    def key(s):
        return (tuple(sorted((n, i) for n, i in s.dc.items())), tuple(sorted(s.dd.items())), tuple(s.dp),
                tuple((i, frozenset(d.items()), tuple(p), frozenset(c.items())) for i, (d, p, c) in sorted(s.f.items())))
    def ikey(s): return frozenset((n, frozenset(s.f[i][0].items())) for n, i in s.dc.items())
    def create(s, name):
        assert name not in s.dc, 'O_EXCL ' + name
        s.n += 1; s.f[s.n] = ({}, [], {}); s.dc[name] = s.n; s.dp.append(((name, s.n),))
    def write(s, name, blk, v):
        d, p, c = s.f[s.dc[name]]; c[blk] = v; p.append((blk, v))
    def sync(s, name, fail=None):
        d, p, c = s.f[s.dc[name]]
        if fail is not None:
            for j, (b, v) in enumerate(p):
                if fail == 'all' or j == fail: d[b] = v
            p.clear(); return False
        for b, v in p: d[b] = v
        p.clear(); return True
    def rename(s, a, b): i = s.dc.pop(a); s.dc[b] = i; s.dp.append(((b, i), (a, None)))
    def unlink(s, n): s.dc.pop(n, None); s.dp.append(((n, None),))
    def dirsync(s, fail=None):
        if fail is not None: s.dp = []; return False      # nothing durable, dirty state dropped
        s.dd = dict(s.dc); s.dp = []; live = set(s.dc.values()); s.f = {i: x for i, x in s.f.items() if i in live}; return True
    def view(s, name):
        i = s.dc.get(name); return None if i is None else s.f[i][2]
    def images(s, limit=200):
        """every (bounded) crash image"""
        units = [('d', j) for j in range(len(s.dp))]
        reach = set(s.dc.values()) | set(s.dd.values()) | {i for op in s.dp for _, i in op}
        for i, (d, p, c) in s.f.items():
            if i not in reach: continue
            for b in dict.fromkeys(b for b, v in p):
                vals = [v for bb, v in p if bb == b]
                if any(v != d.get(b, '-') for v in vals): units.append((i, b))
        n = len(units)
        if 2 ** n <= limit: subs = itertools.product((0, 1), repeat=n)
        else:
            S = {tuple([0] * n), tuple([1] * n)}
            for k in range(n):
                for base in (0, 1):
                    t = [base] * n; t[k] = 1 - base; S.add(tuple(t))
                S.add(tuple([1] * k + [0] * (n - k))); S.add(tuple([0] * k + [1] * (n - k)))
            for a, b in itertools.combinations(range(n), 2):
                if len(S) > limit: break
                t = [1] * n; t[a] = t[b] = 0; S.add(tuple(t))
            subs = S
        for sub in subs:
            o = FS(); o.dd = dict(s.dd); keep = set()
            for u, k in zip(units, sub):
                if k:
                    if u[0] == 'd':
                        for nm, i in s.dp[u[1]]:
                            if i is None: o.dd.pop(nm, None)
                            else: o.dd[nm] = i
                    else: keep.add(u)
            o.n = s.n
            for nm, i in o.dd.items():
                d, p, c = s.f[i]; nd = dict(d)
                for b, v in p:
                    if (i, b) in keep: nd[b] = v
                z = nd.get('sz')
                if z is not None:                 # bytes beyond the durable size are gone: an extended file reads zeros
                    for b in [b for b in nd if b[0] == 'f' and int(b[1:-1]) > z]: del nd[b]
                o.f[i] = (nd, [], dict(nd))
            o.dc = dict(o.dd); yield o
# ---- manifest as tuple of items ----
def man(**k): return tuple(sorted(k.items()))
def seg(i): return 'S%d' % i
def ckn(i): return 'K%d' % i
Z = (0, 0, 0)
class R: pass
def sane(v): return isinstance(v, tuple)
def recover(fs, F, skip=0):
    """pure: what open concludes. skip = number of newest checkpoints to be taken as unreadable"""
    r = R(); r.refuse = None; r.clean = False; r.abandoned = (); r.m = None; r.stale_ck = False
    mv = fs.view('M')
    if mv is None or 'm' not in mv:
        if any(n[0] in 'SK' for n in fs.dc): r.refuse = 'manifest missing while segments exist'; return r
        r.state = {}; r.vis = {}; r.L = 0; r.X = r.P = Z; r.run = 0; r.fresh = True; return r
    r.fresh = False; m = r.m = dict(mv['m'])
    logs = sorted((e for e in m['segs'] if e[1] == 'log'), key=lambda e: e[0])
    ids = {e[0] for e in logs}; allids = {e[0] for e in m['segs']}
    hdr = {}; frames = {}; P = m['proven']
    for (i, k, st, end, salt) in logs:
        v = fs.view(seg(i)) or {}
        h = v.get('h'); h = h if sane(h) and v.get('sz', 0) != 'none' else None
        hdr[i] = h
        if h: P = max(P, h[5])
        s = h[0] if h else (salt if F['salt'] == 'manifest' else None)
        sz = v.get('sz'); fr = {}
        if s is not None:
            for b, val in v.items():
                if b[0] == 'f' and b[-1] == 'h' and sane(val) and val[0] == s:
                    j = int(b[1:-1])
                    if val[1] == j and (sz is None or j <= sz):
                        P = max(P, val[3])
                        p = v.get('f%dp' % j)
                        if sane(p) and p[0] == s and p[1] == j and (not F['crc_payload'] or val[4] == p[2]): fr[j] = (val, p)
        frames[i] = fr
    cks = []
    for n, c in enumerate(m['ckpts']):
        v = fs.view(ckn(c)); v = v.get('k') if v else None
        if sane(v): P = max(P, dict(v)['proof'])
        cks.append(dict(v) if sane(v) and n >= skip else None)
    if F['end_is_proof']:
        for e in logs:
            if e[3] >= 0: P = max(P, (e[0], e[3], 0))
    base = None
    for n, c in enumerate(cks):
        if c is None: continue
        refs = {loc[0] for _, (_, _, loc) in c['table']}
        ps, pi, pq = c['pos']
        if F['old_ckpt'] == 'listed':
            later = [i for i in sorted(ids) if i > ps]
            ok = refs <= allids
            if ok and ps not in ids and ps and later and hdr[later[0]]: ok = hdr[later[0]][1] == ps and hdr[later[0]][2] == pi
            if ok and ps in ids and not all(j in frames[ps] for j in [pi] if j): ok = False
            prev = ps
            for i in later:
                if hdr[i] and hdr[i][1] != prev and hdr[i][1] not in ids and hdr[i][1] > ps: ok = False
                prev = i
        else:
            ok = all(fs.view(seg(i)) is not None for i in refs)
        if ok: base = c; break
        if n == 0 and skip == 0: r.stale_ck = True
    st = {}; L = 0; run = 0; cur = None
    if base:
        st = {k: v for k, v in base['table']}; cur = base['pos']; L = cur[2]; run = base['run']
        for e in m['segs']:
            if e[1] != 'cmp' or e[0] in base['knows']: continue
            v = fs.view(seg(e[0])); v = v.get('c') if v else None
            if not sane(v): r.refuse = 'compacted %d bad' % e[0]; return r
            for (k, q, val) in v[1]:
                if k in st and st[k][0] == q and st[k][1] == val or F['adopt'] == 'newest' and (k not in st or st[k][0] <= q): st[k] = (q, val, (e[0], k))
    else:
        recs = []
        for e in m['segs']:
            if e[1] == 'cmp':
                v = fs.view(seg(e[0])); v = v.get('c') if v else None
                if not sane(v): r.refuse = 'compacted %d bad' % e[0]; return r
                for (k, q, val) in v[1]: recs.append((q, k, val, (e[0], k)))
        for q, k, val, loc in recs:
            if k not in st or st[k][0] < q: st[k] = (q, val, loc)
        L = 0
    off_chain = []; ends = r.ends = {}
    for i in hdr:
        if hdr[i] and cur and i <= cur[0]: ends[hdr[i][1]] = hdr[i][2]
    stop = False
    for (i, k, state, end, salt) in logs:
        if stop: off_chain.append(i); continue
        if cur and i < cur[0]: continue
        j0 = 0
        if cur and i == cur[0]: j0 = cur[1]
        else:
            h = hdr[i]
            if h is None: stop = True; off_chain.append(i); continue
            if cur is not None and (h[1] in ids or h[1] == cur[0]):
                if (h[1], h[2], h[3]) != cur or h[4] != run: stop = True; off_chain.append(i); continue
            elif h[1] in ids: pass
            L = h[3]; run = 0
        if i in hdr and hdr[i] is None and j0 == 0: stop = True; off_chain.append(i); continue
        j = j0
        while j + 1 in frames[i] and (end < 0 or j < end):
            fh, p = frames[i][j + 1]
            if fh[2] != L + 1: break
            j += 1; L = fh[2]; run = hash((run, fh[1:]))
            for (op, kid, val) in p[3]:
                nv = (L, val if op == 'P' else None, (i, j))
                if kid not in st or st[kid][0] < L: st[kid] = nv
        cur = (i, j, L); ends[i] = j
        if end >= 0 and j < end: stop = True
    if cur is None: cur = Z
    # the first frames of a chain after a compacted prefix: proven end may lie in a removed segment
    r.P = P; r.X = cur
    if P[:2] > cur[:2]:
        if P[0] in ids or P[2] > L: r.refuse = 'damage before the proven end P=%s X=%s' % (P, cur); return r
        cur = P; L = max(L, P[2]); r.X = cur
    if not base and L < m['provenseq']: L = m['provenseq']
    r.state = {k: v for k, v in st.items()}; r.L = L; r.run = run
    r.vis = {k: v[1] for k, v in st.items() if v[1] is not None}
    r.abandoned = tuple(off_chain); r.hdr = hdr
    if m['clean'] is not None and m['clean'] == r.X:
        sz = (fs.view(seg(r.X[0])) or {}).get('sz')
        used = any(hdr[i] is not None for i in off_chain) or any(any(b[0] in 'fh' for b in (fs.view(seg(i)) or {})) for i in off_chain)
        r.clean = {'flag': True, 'size': sz == r.X[1], 'size+next': sz == r.X[1] and not used}[F['clean']]
        if r.clean and len(off_chain) > 1: r.clean = False
    return r
# ---- engine ----
class Hist:
    def __init__(s, commits=(), acked=0, pub=0, uid=0): s.c = list(commits); s.acked = acked; s.pub = pub; s.uid = uid
    def snap(s): return (tuple(s.c), s.acked, s.pub, s.uid)
def apply(commits):
    d = {}
    for ops in commits:
        for op, k, v in ops:
            if op == 'P': d[k] = v
            else: d.pop(k, None)
    return d
class Engine:
    def __init__(e, fs, F, hist, fault=None):
        e.fs, e.F, e.h, e.fault, e.nsync = fs, F, hist, fault, 0
        e.poisoned = False; e.ml = e.ql = e.bl = e.cl = None
        r = recover(fs, F); assert not r.refuse, r.refuse
        e.r = r; e.table = dict(r.state); e.seq = r.L; e.run = r.run; e.gone = []
        e.unclean = False; e.rewr = False
        if r.fresh:
            e.m = dict(segs=(), ckpts=(), proven=Z, provenseq=0, preparing=(), removable=(), clean=None, nextid=1)
            e.act = None; e.D = Z; e.idx = 0; e.unsynced = []; e.next = None; e.unclean = True; e.abandoned = []
            return
        e.m = dict(r.m); e.act, e.idx = r.X[0], r.X[1]; e.D = r.P if r.P[2] else (r.P[0], r.P[1], r.P[2]); e.unsynced = []
        e.abandoned = list(r.abandoned); e.next = None
        if r.clean:
            e.D = r.X
            if e.abandoned: e.next = e.abandoned.pop(0); e.nextsalt = [x[4] for x in e.m['segs'] if x[0] == e.next][0]
            if e.next and fs.view(seg(e.next)) is None: e.abandoned.append(e.next); e.next = None
        else: e.unclean = True; e.rewr = r.P[:2] < r.X[:2]
        e.ends = dict(r.ends); e.ends.pop(e.act, None); e.salt = (r.hdr.get(e.act) or (0,))[0]
    def newid(e):
        i = max([e.nid, e.m['nextid']] + [int(n[1:]) + 1 for n in e.fs.dc if n[0] in 'SK']); e.nid = i + 1; return i
    nid = 0; live = None
    def chk(e):
        if e.poisoned: raise Poison
    def sync(e, name):
        e.nsync += 1
        if e.fault and e.fault[0] == e.nsync: return e.fs.sync(name, e.fault[1])
        return e.fs.sync(name)
    def syncp(e, name):
        ok = e.sync(name); yield
        if not ok and e.F['poison']: e.poisoned = True
        if e.F['poison']: e.chk()
    def dsync(e):
        e.nsync += 1
        ok = e.fs.dirsync(e.fault[1] if e.fault and e.fault[0] == e.nsync else None); yield
        if not ok: e.poisoned = True
        e.chk()
    def lock(e, which, me):
        while getattr(e, which) not in (None, me):
            e.chk(); yield 'blocked'
        e.chk()
        setattr(e, which, me)
    def putman(e, edit, me):
        """edit(m) under the manifest lock; temp, sync, rename, sync directory"""
        yield from e.lock('ml', me); e.chk()
        gone = list(e.gone); m = dict(e.m); edit(m)
        if e.F['drop_after_sync'] and gone: yield from e.dsync()
        m['removable'] = tuple(x for x in m['removable'] if x not in gone); m['preparing'] = tuple(x for x in m['preparing'] if x not in gone)
        m['nextid'] = max(e.nid, m['nextid'])
        if m['proven'][:2] < e.D[:2]: m['proven'] = e.D; m['provenseq'] = e.D[2]
        if 'T' in e.fs.dc: e.fs.unlink('T')
        e.fs.create('T'); e.fs.write('T', 'm', man(**m)); yield
        yield from e.syncp('T')
        e.fs.rename('T', 'M'); yield
        yield from e.dsync()
        e.m = m; e.gone = [g for g in e.gone if g not in gone]; e.ml = None
    def cleanup(e):
        """open: delete preparing and removable"""
        if e.r.fresh: return
        names = list(e.r.m['preparing']) + list(e.r.m['removable'])
        if not names: return
        if e.F['open_dirsync']: yield from e.dsync()
        for n in names:
            if n in e.fs.dc: e.fs.unlink(n); yield
            e.gone.append(n)
    def rewrite(e):
        """write again what lies beyond the proven end, sync"""
        P, X = e.r.P, e.r.X
        for x in sorted(e.m['segs']):
            i = x[0]
            if x[1] != 'log' or i < P[0] or i > X[0] or i in e.r.abandoned: continue
            v = e.fs.view(seg(i))
            for b in list(v):
                j = int(b[1:-1]) if b[0] == 'f' else 0
                if b != 'sz' and (P[0], P[1]) < (i, j) <= (X[0], X[1]) or (b == 'h' and i > P[0]) or b == 'sz': e.fs.write(seg(i), b, v[b])
            yield
            yield from e.syncp(seg(i))
        if e.F['rewrite_dirsync']: yield from e.dsync()
        e.D = max(e.D, X); e.rewr = False
    def settle(e, me):
        """first change after an unclean open: new segment naming the cut; manifest"""
        F = e.F
        yield from e.lock('ql', me); 
        if not e.unclean: e.ql = None; return
        if e.rewr and F['rewrite'] == 'first': yield from e.rewrite()
        X = e.r.X; old = e.act; ab = list(e.abandoned); reuse = None
        if F['new_seg'] == 'next' and ab and e.fs.view(seg(ab[0])) is not None and e.r.hdr[ab[0]] is None: reuse = ab.pop(0)
        if reuse:
            i = reuse; e.salt = [x[4] for x in e.m['segs'] if x[0] == i][0] if F['salt'] == 'manifest' else e.h.uid * 100 + i
        else: i = e.newid(); e.h.uid += 1; e.salt = e.h.uid * 100 + i
        def edit(m):
            s = [x for x in m['segs'] if x[0] not in ab]
            s = [(x[0], x[1], 'sealed', X[1], x[4]) if x[0] == old else (x[0], x[1], 'sealed', e.ends[x[0]], x[4]) if x[1] == 'log' and x[3] < 0 and x[0] in e.ends else x for x in s]
            if not reuse: s.append((i, 'log', 'next', -1, e.salt))
            m['segs'] = tuple(s); m['clean'] = None
            if F['abandon'] == 'removable': m['removable'] = m['removable'] + tuple(seg(x) for x in ab)
        if F['prep_first'] and not e.r.fresh or e.r.fresh and F['seed_manifest_first']: yield from e.putman(edit, me)
        if not reuse: e.fs.create(seg(i)); yield
        e.fs.write(seg(i), 'sz', None)
        e.fs.write(seg(i), 'h', (e.salt, X[0], X[1], X[2], e.run, e.D)); yield
        yield from e.syncp(seg(i)); yield from e.dsync()
        if not (F['prep_first'] and not e.r.fresh or e.r.fresh and F['seed_manifest_first']): yield from e.putman(edit, me)
        e.abandoned = []; e.act = i; e.idx = 0; e.run = 0; e.unclean = False
        if e.rewr: pass
        for a in ab:
            if F['abandon'] == 'removable' and seg(a) in e.fs.dc: e.fs.unlink(seg(a)); e.gone.append(seg(a)); yield
        e.ql = None
    def prepare(e, me):
        if e.unclean: yield from e.settle(me)
        if e.next: return
        i = e.newid(); e.h.uid += 1; salt = e.h.uid * 100 + i; F = e.F
        def edit(m):
            act = e.act; s = []
            for x in m['segs']:
                if x[1] == 'log' and x[0] < act and x[3] < 0: x = (x[0], 'log', 'sealed', e.ends.get(x[0], -1), x[4])
                s.append(x)
            m['clean'] = None
            if F['next_as'] == 'next': m['segs'] = tuple(s) + ((i, 'log', 'next', -1, salt),)
            else:
                pn = tuple(n for n in m['preparing'] if n != seg(act)); 
                if seg(act) in m['preparing']: s.append((act, 'log', 'next', -1, e.salt))
                m['segs'] = tuple(s); m['preparing'] = pn + (seg(i),)
        if F['prep_first']: yield from e.putman(edit, me)
        e.fs.create(seg(i)); e.fs.write(seg(i), 'sz', None); yield
        yield from e.syncp(seg(i)); yield from e.dsync()
        if not F['prep_first']: yield from e.putman(edit, me)
        e.next = i; e.nextsalt = salt
    ends = {}
    def roll(e, me):
        yield from e.prepare(me)
        yield from e.lock('ql', me); e.chk()
        e.ends = dict(e.ends); e.ends[e.act] = e.idx
        e.fs.write(seg(e.act), 'sz', e.idx); yield
        e.fs.write(seg(e.next), 'h', (e.nextsalt, e.act, e.idx, e.seq, e.run, e.D)); yield
        if e.act not in e.unsynced: e.unsynced.append(e.act)
        e.unsynced.append(e.next); e.act, e.next, e.idx, e.run, e.salt = e.next, None, 0, 0, e.nextsalt
        e.ql = None
    def synclog(e, me, why):
        """make the log durable through what is appended now"""
        if e.rewr and (e.F['rewrite'] == 'claim' or e.F['rewrite'] == 'disk' and why == 'disk'): yield from e.rewrite()
        at = (e.act, e.idx, e.seq); todo = [s for s in e.unsynced if s <= e.act]
        for s in todo:
            yield from e.syncp(seg(s))
        e.unsynced = [s for s in e.unsynced if s not in todo or (s == e.act and (e.act, e.idx) != at[:2])]
        if at[:2] > e.D[:2]: e.D = at
    def group(e, batches, disk, me):
        if e.unclean: yield from e.settle(me)
        yield from e.lock('ql', me); e.chk(); pend = []
        for ops in batches:
            e.h.uid += 1; u = e.h.uid
            ops = tuple((op, k, u if op == 'P' else None) for op, k in ops)
            v = e.fs.view(seg(e.act))
            if v.get('sz') is not None: e.fs.write(seg(e.act), 'sz', None); yield
            j = e.idx + 1; q = e.seq + 1
            e.fs.write(seg(e.act), 'f%dp' % j, (e.salt, j, u, ops)); yield
            fh = (e.salt, j, q, e.D, u if e.F['crc_payload'] else 0)
            e.fs.write(seg(e.act), 'f%dh' % j, fh)
            e.idx = j; e.seq = q; e.run = hash((e.run, fh[1:])); e.h.c.append(ops)
            if e.act not in e.unsynced: e.unsynced.append(e.act)
            pend.append((ops, q, (e.act, j))); yield
        if disk: yield from e.synclog(me, 'disk')
        e.chk()
        for ops, q, loc in pend:
            for op, k, v in ops: e.table[k] = (q, v, loc)
        e.h.pub = e.seq; e.live = (e.act, e.idx, e.seq)
        if disk: e.h.acked = e.seq
        e.ql = None; yield
    def bgsync(e, me):
        if e.F['bgsync'] == 'queue':
            yield from e.lock('ql', me); yield from e.synclog(me, 'bg'); e.ql = None
        else: yield from e.synclog(me, 'bg')
    def ckpt(e, me, extra=None, outs=(), kid=None):
        yield from e.lock('ql', me)                 # snapshot of a published state
        snap = (tuple(sorted((k, t) for k, t in e.table.items() if t[1] is not None)), (e.act, e.idx, e.seq), e.run, tuple(x[0] for x in e.m['segs'])); e.ql = None
        if e.F['ckpt_sync']: yield from e.bgsync(me)
        if kid is None:
            kid = e.newid()
            yield from e.putman(lambda m: m.update(preparing=m['preparing'] + (ckn(kid),)), me)
        e.fs.create(ckn(kid)); e.fs.write(ckn(kid), 'k', (('pos', snap[1]), ('proof', snap[1] if e.F['ckpt_sync'] else min(e.D, snap[1])), ('run', snap[2]), ('knows', snap[3]), ('table', snap[0]))); yield
        yield from e.syncp(ckn(kid)); yield from e.dsync()
        dead = []
        def edit(m):
            old = list(m['ckpts']); m['ckpts'] = (kid,) + tuple(old[:1]); dead.extend(ckn(x) for x in old[1:])
            if extra: extra(m, dead)
            m['removable'] += tuple(dead); m['preparing'] = tuple(x for x in m['preparing'] if x != ckn(kid) and x not in outs)
            if e.F['ckpt_sync'] and snap[1][:2] > m['proven'][:2]: m['proven'] = snap[1]; m['provenseq'] = snap[1][2]
        if e.F['bad_order'] == 'delete_first' and extra:
            mm = dict(e.m); edit(mm); 
            for n in dead: e.fs.unlink(n); yield
        yield from e.putman(edit, me)
        for n in dead:
            if n in e.fs.dc: e.fs.unlink(n)
            e.gone.append(n); yield
    def checkpoint(e, me):
        if e.unclean: yield from e.settle(me)
        if e.F['bad_order'] != 'serial_off': yield from e.lock('bl', me)
        yield from e.ckpt(me)
        e.bl = None
    def recs(e, i):
        x = [x for x in e.m['segs'] if x[0] == i][0]; v = e.fs.view(seg(i))
        if x[1] == 'cmp': return [(k, q, val, (i, k)) for k, q, val in v['c'][1]]
        out = []; j = 1; end = x[3] if x[3] >= 0 else e.ends.get(i, -1)
        while sane(v.get('f%dh' % j)) and sane(v.get('f%dp' % j)) and (end < 0 or j <= end):
            q = v['f%dh' % j][2]
            for op, k, val in v['f%dp' % j][3]: out.append((k, q, val if op == 'P' else None, (i, j)))
            j += 1
        return out
    def compact(e, which, me):
        """which: 'all' sealed, or a list of indices into the sealed listed segments"""
        if e.unclean: yield from e.settle(me)
        yield from e.lock('cl', me)
        sealed = [x[0] for x in sorted(e.m['segs']) if (x[1] == 'cmp' or x[0] < e.act)]
        ins = sealed if which == 'all' else [sealed[w] for w in which if w < len(sealed)]
        if not ins: e.cl = None; return
        if e.F['bad_order'] != 'no_log_sync': yield from e.bgsync(me)
        yield
        others = [x[0] for x in e.m['segs'] if x[0] not in ins]
        if any(e.fs.view(seg(i)) is None for i in ins): e.cl = None; return
        live = []; tombs = []
        for i in ins:
            for k, q, val, loc in e.recs(i):
                t = e.table.get(k)
                if val is not None:
                    if t and t[2] == loc: live.append((k, q, val, loc))
                elif t is None or t[1] is None and t[0] <= q:
                    if e.F['tomb'] == 'rule' and any(any(rk == k and rq < q for rk, rq, *_ in e.recs(o)) for o in others if e.fs.view(seg(o))): tombs.append((k, q, None, loc))
        cid = e.newid(); kid = e.newid(); recs = live + tombs
        if e.F['install'] == 'once': yield from e.install_once(ins, recs, cid, kid, me); e.bl = e.cl = None; return
        if recs:
            yield from e.putman(lambda m: m.update(preparing=m['preparing'] + (seg(cid),)), me)
            e.fs.create(seg(cid)); e.fs.write(seg(cid), 'c', (tuple(ins), tuple((k, q, v) for k, q, v, _ in recs))); yield
            if e.F['bad_order'] != 'manifest_before_output': yield from e.syncp(seg(cid)); yield from e.dsync()
            if e.F['bad_order'] != 'serial_off': yield from e.lock('bl', me)
            def beside(m):
                m['preparing'] = tuple(x for x in m['preparing'] if x != seg(cid)); m['segs'] += ((cid, 'cmp', 'sealed', -1, 0),)
            yield from e.putman(beside, me)
            yield from e.lock('ql', me)
            e.move(recs, cid); e.ql = None; yield
        elif e.F['bad_order'] != 'serial_off': yield from e.lock('bl', me)
        yield from e.putman(lambda m: m.update(preparing=m['preparing'] + (ckn(kid),)), me)
        gone = list(ins)
        def extra(m, dead):
            m['segs'] = tuple(x for x in m['segs'] if x[0] not in gone); dead.extend(seg(i) for i in gone)
        yield from e.ckpt(me, extra, (), kid)
        e.bl = e.cl = None
    def move(e, recs, cid):
        for k, q, v, loc in recs:
            t = e.table.get(k)
            if t and t[2] == loc: e.table[k] = (q, v, (cid, k))
    def install_once(e, ins, recs, cid, kid, me):
        """output, checkpoint and removal of the inputs in one manifest"""
        if e.F['bad_order'] != 'serial_off': yield from e.lock('bl', me)
        yield from e.putman(lambda m: m.update(preparing=m['preparing'] + (seg(cid), ckn(kid))), me)
        if recs:
            e.fs.create(seg(cid)); e.fs.write(seg(cid), 'c', (tuple(ins), tuple((k, q, v) for k, q, v, _ in recs))); yield
            if e.F['bad_order'] != 'manifest_before_output': yield from e.syncp(seg(cid)); yield from e.dsync()
        yield from e.lock('ql', me)
        e.move(recs, cid)
        for k in [k for k, t in e.table.items() if t[1] is None and t[2][0] in ins]: del e.table[k]
        e.ql = None; yield
        def extra(m, dead):
            s = tuple(x for x in m['segs'] if x[0] not in ins)
            if recs: s += ((cid, 'cmp', 'sealed', -1, 0),)
            else: m['preparing'] = tuple(x for x in m['preparing'] if x != seg(cid))
            m['segs'] = s; dead.extend(seg(i) for i in ins)
        yield from e.ckpt(me, extra, (seg(cid),), kid)
    def close(e, me):
        F = e.F
        if e.unclean:
            if e.r.fresh or F['close_unclean'] == 'noop': return
            if F['close_unclean'] == 'literal':
                for x in e.m['segs']:
                    if x[1] == 'log' and x[0] not in e.abandoned and seg(x[0]) in e.fs.dc: yield from e.syncp(seg(x[0]))
                e.D = e.r.X; yield from e.putman(lambda m: None, me); e.h.acked = e.h.pub = e.seq; return
            yield from e.settle(me)
        yield from e.lock('cl', me); yield from e.lock('bl', me); yield from e.lock('ql', me); e.chk()
        yield from e.synclog(me, 'disk' if F['rewrite'] != 'disk' else 'close')
        e.fs.write(seg(e.act), 'sz', e.idx); yield
        yield from e.syncp(seg(e.act))
        c = (e.act, e.idx, e.seq)
        if c[:2] > e.D[:2]: e.D = c
        def edit(m): m['clean'] = c; m['proven'] = c; m['provenseq'] = c[2]
        yield from e.putman(edit, me); e.h.acked = e.h.pub = e.seq; e.ql = e.bl = e.cl = None
    def script(e, ops, me):
        for o in ops:
            k = o[0]
            if k == 'D': yield from e.group(o[1:], True, me)
            elif k == 'Y': yield from e.group(o[1:], False, me)
            elif k == 'roll': yield from e.roll(me)
            elif k == 'prep': yield from e.prepare(me)
            elif k == 'ck': yield from e.checkpoint(me)
            elif k == 'cmp': yield from e.compact(o[1], me)
            elif k == 'clean': yield from e.cleanup()
            elif k == 'close': yield from e.close(me)
