import { type CanvasPositions, canvasLayoutEvents } from '../../domain/content/canvas-layout-events.ts';
import { canvasLayoutDecider } from '../../domain/content/canvas-layout.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import { foldStream } from '../fold-stream.ts';
import { handleCommand } from '../handle-command.ts';
import type { CanvasLayouts } from '../ports/canvas-layouts.ts';
import type { Entitlements } from '../ports/entitlements.ts';
import type { EventStore } from '../ports/event-store.ts';

export type CanvasLayoutDependencies = {
  readonly eventStore: EventStore;
  readonly layouts: CanvasLayouts;
  readonly entitlements: Entitlements;
};

/**
 * Replaces the tenant's canvas layout. The console saves it often, so the decision starts from the read model's row and
 * reads only the events after it.
 * @returns the layout, and the position to wait for; undefined when nothing changed
 */
export async function saveCanvasLayout(
  positions: CanvasPositions,
  context: CommandContext,
  { eventStore, layouts }: Pick<CanvasLayoutDependencies, 'eventStore' | 'layouts'>,
): Promise<{ readonly positions: CanvasPositions; readonly position: GlobalPosition | undefined }> {
  const layout = {
    stream: streamName({ category: 'settings', tenant: context.tenant, id: 'canvas-layout' }),
    decider: canvasLayoutDecider,
    parse: canvasLayoutEvents.parse,
  };
  const { state, position } = await handleCommand(
    {
      ...layout,
      snapshot: async () => {
        const row = await layouts.load(context.tenant);
        return foldStream({ ...layout, from: { state: row.positions, revision: row.revision } }, { eventStore });
      },
      decide: (before) => canvasLayoutDecider.decide(before, { kind: 'arrange', positions }),
    },
    context,
    { eventStore },
  );
  return { positions: state, position };
}
