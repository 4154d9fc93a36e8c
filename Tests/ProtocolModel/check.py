"""Runs the model: the protocol as it is in every scenario, then each wrong reading until some scenario catches it.

    python3 check.py [--seconds N] [--right | --wrong NAME]

N bounds the time of the protocol as it is, spread over the scenarios (60 unless told). Exit status 1 when the protocol
fails or a wrong reading is not caught.
"""
import argparse
import sys
import time
from scen import *

FAULTS = [(k, f) for k in range(1, 16) for f in (-1, 'all')]
WRONG = [
    dict(next_as='preparing'), dict(salt='header'), dict(new_seg='next'), dict(rewrite='disk'), dict(rewrite='none'), dict(end_is_proof=True), dict(ckpt_sync=False), dict(old_ckpt='exists'),
    dict(open_dirsync=False), dict(drop_after_sync=False), dict(prep_first=False), dict(clean='flag'), dict(clean='flag', crc_payload=False), dict(clean='size', crc_payload=False),
    dict(close_unclean='literal'), dict(abandon='forget'),
    dict(bad_order='delete_first'), dict(bad_order='manifest_before_output'), dict(bad_order='no_log_sync'),
    dict(bgsync='direct'), dict(rewrite_dirsync=False), dict(seed_manifest_first=False), dict(adopt='newest'),
]

# Alternatives that no scenario has caught within minutes: either they are not wrong, or no scenario reaches what is wrong
# with them, which for the deletes that are dropped too early ('tomb') is certain.
UNDECIDED = [dict(tomb='naive'), dict(rewrite='claim'), dict(clean='size'), dict(close_unclean='noop')]


def name(change):
    return ', '.join('%s=%s' % item for item in change.items())


def right(seconds):
    """The protocol as it is: (scenario, concurrent or not, faults)."""
    plans = [(n, (None,)) for n in SC] + [(n, (None,)) for n in CON] + [(n, FAULTS) for n in ('plain', 'comp')]
    good = True
    for scenario, faults in plans:
        x = run(scenario, {}, budget=seconds / len(plans), faults=faults, lim=64, rots=scenario in SC)
        print('%-10s %-7s %s%s' % (
            scenario, 'faults' if len(faults) > 1 else '',
            ', '.join('%d %s' % (v, k) for k, v in x.n.items()), '' if x.full else ' (time is up)'))
        for kind, trace in x.viol.values():
            good = False
            print('   VIOLATION', kind, '|', ' ; '.join(map(str, trace)))
        sys.stdout.flush()
    return good


def caught(change):
    """The first scenario in which a wrong reading shows, with what it does."""
    rots = any(k in change for k in ('salt', 'clean', 'rewrite'))
    for budget in (4, 30):
        for scenario in list(SC) + list(CON):
            for faults in ((None,), FAULTS[::2]):
                x = run(scenario, change, budget=budget, first=True, faults=faults, lim=64, rots=rots and scenario in SC)
                if x.viol:
                    return scenario, next(iter(x.viol.values()))[0]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=60)
    parser.add_argument('--wrong', help='only the wrong readings whose name contains this')
    parser.add_argument('--right', action='store_true', help='only the protocol as it is')
    options = parser.parse_args()
    good = options.wrong is not None or right(options.seconds)
    missed = 0
    for change in [] if options.right else WRONG + (UNDECIDED if options.wrong else []):
        if options.wrong and options.wrong not in name(change):
            continue
        start = time.time()
        found = caught(change)
        missed += found is None
        print('%-36s %s, %.0f s' % (
            name(change), 'NOT CAUGHT' if not found else 'caught in %s: %s' % found, time.time() - start))
        sys.stdout.flush()
    print('violations: %s, wrong readings not caught: %d' % ('none' if good else 'SEE ABOVE', missed))
    return 0 if good and not missed else 1


if __name__ == '__main__':
    sys.exit(main())
