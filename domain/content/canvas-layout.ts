import type { Decider } from '../decider.ts';
import { ownValue } from '../own-value.ts';
import type { CanvasLayoutEvent, CanvasPositions } from './canvas-layout-events.ts';

/** Replaces the whole layout. */
export type CanvasLayoutCommand = { readonly kind: 'arrange'; readonly positions: CanvasPositions };

export const canvasLayoutDecider: Decider<CanvasPositions, CanvasLayoutCommand, CanvasLayoutEvent> = {
  initialState,
  decide,
  evolve,
};

function initialState(): CanvasPositions {
  return {};
}

function decide(before: CanvasPositions, { positions: after }: CanvasLayoutCommand): readonly CanvasLayoutEvent[] {
  const moved = Object.fromEntries(
    Object.entries(after).filter(([name, { x, y }]) => {
      const earlier = ownValue(before, name);
      return earlier?.x !== x || earlier.y !== y;
    }),
  );
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return Object.keys(moved).length === 0 && removed.length === 0
    ? []
    : [{ type: 'CanvasLayoutChanged', data: { moved, removed } }];
}

function evolve(positions: CanvasPositions, event: CanvasLayoutEvent): CanvasPositions {
  const { moved, removed } = event.data;
  const remaining = Object.entries(positions).filter(([name]) => !removed.includes(name));
  return { ...Object.fromEntries(remaining), ...moved };
}
