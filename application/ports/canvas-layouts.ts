import type { CanvasPositions } from '../../domain/content/canvas-layout.ts';
import type { StreamRevision } from '../../domain/event.ts';

/** Where the tenant's content types stand on the schema canvas. */
export type CanvasLayouts = {
  /** The layout as the read model has it, and the revision of its stream; empty at revision -1 before the first. */
  load(tenant: string): Promise<{ readonly positions: CanvasPositions; readonly revision: StreamRevision }>;
};
