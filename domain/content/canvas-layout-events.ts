import { eventParser } from '../event-parser.ts';
import type { DomainEvent } from '../event.ts';

/** Position of a content type on the schema canvas, in the canvas's units. */
export type CanvasPosition = { readonly x: number; readonly y: number };

/** Positions by name of the content type. Names of deleted types are allowed and ignored. */
export type CanvasPositions = { readonly [name: string]: CanvasPosition };

/**
 * Event of the tenant's canvas layout, stream `settings-<tenant>.canvas-layout`. It carries what changed, not the whole
 * layout.
 */
export type CanvasLayoutEvent = DomainEvent<
  'CanvasLayoutChanged',
  { readonly moved: CanvasPositions; readonly removed: readonly string[] }
>;

export const canvasLayoutEvents = eventParser<CanvasLayoutEvent>('canvas layout', ['CanvasLayoutChanged']);
