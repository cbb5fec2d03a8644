import type { GlobalPosition } from '../event.ts';

/**
 * A point in time to read entries at. `time` is inclusive and is compared with the time of events. `position` is the
 * position at which the paging of a list began; an entry that was created later is read as it was created.
 */
export type PointInTime = { readonly time: string } | { readonly position: GlobalPosition };
