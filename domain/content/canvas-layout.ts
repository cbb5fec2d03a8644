import type { Decider } from '../decider.ts';
import type { CanvasLayoutEvent, CanvasPositions } from './canvas-layout-events.ts';

/** Replaces the whole layout. */
export type CanvasLayoutCommand = { readonly kind: 'arrange'; readonly positions: CanvasPositions };

export const canvasLayoutDecider: Decider<CanvasPositions, CanvasLayoutCommand, CanvasLayoutEvent> = {
  initialState: () => ({}),
  decide,
  evolve(positions, { data: { moved, removed } }) {
    const kept = Object.entries(positions).filter(([name]) => !removed.includes(name));
    return { ...Object.fromEntries(kept), ...moved };
  },
};

function decide(before: CanvasPositions, { positions: after }: CanvasLayoutCommand): readonly CanvasLayoutEvent[] {
  const moved = Object.fromEntries(
    Object.entries(after).filter(([name, { x, y }]) => before[name]?.x !== x || before[name].y !== y),
  );
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return Object.keys(moved).length === 0 && removed.length === 0
    ? []
    : [{ type: 'CanvasLayoutChanged', data: { moved, removed } }];
}
