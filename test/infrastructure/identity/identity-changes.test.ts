import { expect } from 'chai';
import { type GlobalPosition, positionFrom } from '../../../domain/event.ts';
import { openIdentityChanges } from '../../../infrastructure/identity/identity-changes.ts';
import { eventually } from '../../support/eventually.ts';

function watch({ settleMs = 1, pollMs = 60_000 } = {}) {
  let listener: (position: GlobalPosition, applied: boolean) => void = () => undefined;
  let at = positionFrom(0);
  const state = { last: '' as string | undefined, checks: 0, notified: 0, failing: false };
  const changes = openIdentityChanges({
    settleMs,
    pollMs,
    lastChange: () => {
      state.checks += 1;
      return state.failing ? Promise.reject(new Error('no database')) : Promise.resolve(state.last);
    },
    progress: {
      position: () => at,
      onMove: (_name, added) => {
        listener = added;
        return () => undefined;
      },
    },
  });
  changes.onChange(() => {
    state.notified += 1;
  });
  const move = (n: number, applied = true) => {
    at = positionFrom(n);
    listener(at, applied);
  };
  return { changes, state, move };
}

describe('identity changes', () => {
  it('notify listeners of changes, and not when the read model passes other events', async () => {
    const { changes, state, move } = watch();
    state.last = 'a';
    move(1);
    await eventually(() => {
      expect([state.checks, state.notified]).to.deep.equal([1, 1]);
    });
    for (let n = 2; n < 50; n += 1) move(n, false);
    for (let n = 50; n < 100; n += 1) move(n);
    await eventually(() => {
      expect(state.checks).to.equal(2);
    });
    expect(state.notified).to.equal(1);
    state.last = 'b';
    move(100);
    await eventually(() => {
      expect(state.notified).to.equal(2);
    });
    changes.close();
  });

  it('notify listeners of an append of this process with the move that applies it, also when the move came first', () => {
    const { changes, state, move } = watch({ settleMs: 60_000 });
    changes.expect(positionFrom(5));
    move(4);
    expect(state.notified).to.equal(0);
    move(5);
    expect(state.notified).to.equal(1);
    move(6);
    expect(state.notified).to.equal(1);
    changes.expect(positionFrom(6));
    expect(state.notified).to.equal(2);
    changes.close();
  });

  it('are polled when no signal comes, and a failed check counts as a change', async () => {
    const { changes, state } = watch({ pollMs: 5 });
    state.last = 'a';
    await eventually(() => {
      expect(state.notified).to.equal(1);
    });
    state.failing = true;
    await eventually(() => {
      expect(state.notified).to.be.above(1);
    });
    changes.close();
  });
});
