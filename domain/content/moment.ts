import type { GlobalPosition } from '../event.ts';

/**
 * A moment of the past. By time, inclusive: what had occurred then (spec 4 A, time travel). By place in the log: what a walk by cursor that began
 * there goes by; an entry that is not there then counts as it was when it came.
 */
export type Moment = { readonly time: string } | { readonly position: GlobalPosition };
