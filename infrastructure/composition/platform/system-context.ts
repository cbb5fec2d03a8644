import type { CommandContext } from '../../../domain/context.ts';
import { DEFAULT_TENANT } from '../../../domain/identity/memberships.ts';

/**
 * Context of a command that the process itself runs at start, in the default tenant. `part` becomes the id of the
 * actor.
 */
export function systemContext(part: string, { now, newId }: Pick<CommandContext, 'now' | 'newId'>): CommandContext {
  const correlationId = newId();
  return {
    tenant: DEFAULT_TENANT,
    actor: { kind: 'system', id: part },
    correlationId,
    causationId: correlationId,
    now,
    newId,
  };
}
