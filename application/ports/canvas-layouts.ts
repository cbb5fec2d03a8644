import type { CanvasPositions } from '../../domain/content/canvas-layout-events.ts';
import type { StreamRevision } from '../../domain/event.ts';

/** The positions of the tenant's content types on the schema canvas. */
export type CanvasLayouts = {
  /** The layout in the read model and the revision of its stream; empty with revision -1 before the first save. */
  load(tenant: string): Promise<{ readonly positions: CanvasPositions; readonly revision: StreamRevision }>;
};
