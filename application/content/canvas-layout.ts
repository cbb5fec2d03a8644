import type { CanvasPositions } from '../../domain/content/canvas-layout.ts';
import { arrangeCanvas, canvasLayoutDecider, parseCanvasLayoutEvent } from '../../domain/content/canvas-layout.ts';
import type { CommandContext } from '../../domain/context.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { streamName } from '../../domain/stream.ts';
import type { StateAt } from '../handle-command.ts';
import { handleCommand } from '../handle-command.ts';
import type { CanvasLayouts } from '../ports/canvas-layouts.ts';
import type { Entitlements } from '../ports/entitlements.ts';
import type { EventStore } from '../ports/event-store.ts';

export type CanvasLayoutDependencies = { readonly eventStore: EventStore; readonly layouts: CanvasLayouts; readonly entitlements: Entitlements };

/**
 * Replaces the tenant's canvas layout (spec 2, canvas layout). An editor saves it often, so the decision begins with the read model's row and
 * reads only what came after it.
 */
export async function saveCanvasLayout(
  positions: CanvasPositions,
  context: CommandContext,
  { eventStore, layouts }: Pick<CanvasLayoutDependencies, 'eventStore' | 'layouts'>,
): Promise<{ readonly positions: CanvasPositions; readonly position: GlobalPosition | undefined }> {
  const stream = streamName({ category: 'settings', tenant: context.tenant, id: 'canvas-layout' });
  const { state, position } = await handleCommand({
    eventStore, stream, context,
    decider: canvasLayoutDecider,
    parse: parseCanvasLayoutEvent,
    snapshot: current,
    decide: (before) => arrangeCanvas(before, positions),
  });
  return { positions: state, position };

  async function current(): Promise<StateAt<CanvasPositions>> {
    const row = await layouts.load(context.tenant);
    let at: StateAt<CanvasPositions> = { state: row.positions, revision: row.revision };
    for await (const event of eventStore.readStream(stream, { from: at.revision + 1 })) {
      at = { state: canvasLayoutDecider.evolve(at.state, parseCanvasLayoutEvent(event)), revision: event.revision };
    }
    return at;
  }
}
