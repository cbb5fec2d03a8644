import type { Decider } from '../decider.ts';
import type { DomainEvent, RecordedEvent } from '../event.ts';

/** Where a content type stands on the schema canvas, in the canvas's own units. */
export type CanvasPosition = { readonly x: number; readonly y: number };

/** Positions by name of the content type; names of types that are gone do no harm. */
export type CanvasPositions = { readonly [name: string]: CanvasPosition };

/** Stream `settings-<tenant>.canvas-layout`. Carries what moved, not the whole canvas (spec 5, rule 2). */
export type CanvasLayoutEvent = DomainEvent<'CanvasLayoutChanged', { readonly moved: CanvasPositions; readonly removed: readonly string[] }>;

export const canvasLayoutDecider: Decider<CanvasPositions, CanvasLayoutEvent> = {
  initialState: () => ({}),
  evolve(positions, { data: { moved, removed } }) {
    const kept = Object.entries(positions).filter(([name]) => !removed.includes(name));
    return { ...Object.fromEntries(kept), ...moved };
  },
};

/** Replaces the layout; nothing happens where it is the same. */
export function arrangeCanvas(before: CanvasPositions, after: CanvasPositions): readonly CanvasLayoutEvent[] {
  const moved = Object.fromEntries(Object.entries(after).filter(([name, { x, y }]) => before[name]?.x !== x || before[name].y !== y));
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return Object.keys(moved).length === 0 && removed.length === 0 ? [] : [{ type: 'CanvasLayoutChanged', data: { moved, removed } }];
}

/** Whether a stored event is one of a canvas layout: the category holds other settings too. */
export function isCanvasLayoutEvent(event: RecordedEvent): event is RecordedEvent & CanvasLayoutEvent {
  return event.type === 'CanvasLayoutChanged';
}

/** @throws RangeError for an event that is none of a canvas layout's: the stream holds what it must not */
export function parseCanvasLayoutEvent(event: RecordedEvent): CanvasLayoutEvent {
  if (!isCanvasLayoutEvent(event)) throw new RangeError(`no event of a canvas layout: ${event.type} in ${event.stream}`);
  return event;
}
