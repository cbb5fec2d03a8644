import { expect } from 'chai';
import type { GlobalPosition } from '../../../domain/event.ts';
import { positionFrom } from '../../../domain/event.ts';
import { watchIdentityChanges } from '../../../infrastructure/identity/identity-changes.ts';
import { eventually } from '../../support/eventually.ts';

function rig({ settleMs = 1, pollMs = 60_000 } = {}) {
  let listener: (position: GlobalPosition, applied: boolean) => void = () => undefined;
  let at = positionFrom(0);
  const state = { last: '' as string | undefined, looks: 0, told: 0, failing: false };
  const changes = watchIdentityChanges({
    settleMs, pollMs,
    lastChange: () => {
      state.looks += 1;
      return state.failing ? Promise.reject(new Error('no database')) : Promise.resolve(state.last);
    },
    progress: {
      position: () => at,
      onMove: (_name, heard) => {
        listener = heard;
        return () => undefined;
      },
    },
  });
  changes.onChange(() => {
    state.told += 1;
  });
  const move = (n: number, applied = true) => {
    at = positionFrom(n);
    listener(at, applied);
  };
  return { changes, state, move };
}

describe('the watch over identity changes', () => {
  it('tells of changes and keeps still when the read model moves over other events', async () => {
    const { changes, state, move } = rig();
    state.last = 'a';
    move(1);
    await eventually(() => {
      expect([state.looks, state.told]).to.deep.equal([1, 1]);
    });
    for (let n = 2; n < 50; n += 1) move(n, false);
    for (let n = 50; n < 100; n += 1) move(n);
    await eventually(() => {
      expect(state.looks).to.equal(2);
    });
    expect(state.told).to.equal(1);
    state.last = 'b';
    move(100);
    await eventually(() => {
      expect(state.told).to.equal(2);
    });
    changes.close();
  });

  it('tells of what was appended here in the very move, also when that came first', () => {
    const { changes, state, move } = rig({ settleMs: 60_000 });
    changes.expect(positionFrom(5));
    move(4);
    expect(state.told).to.equal(0);
    move(5);
    expect(state.told).to.equal(1);
    move(6);
    expect(state.told).to.equal(1);
    changes.expect(positionFrom(6));
    expect(state.told).to.equal(2);
    changes.close();
  });

  it('looks by itself when no signal comes, and takes a failing look for a change', async () => {
    const { changes, state } = rig({ pollMs: 5 });
    state.last = 'a';
    await eventually(() => {
      expect(state.told).to.equal(1);
    });
    state.failing = true;
    await eventually(() => {
      expect(state.told).to.be.above(1);
    });
    changes.close();
  });
});
