import type { EventMetadata } from '../../domain/event.ts';

/** Event metadata with fixed values; the parts given replace them. */
export function testMetadata(parts: Partial<EventMetadata> = {}): EventMetadata {
  return {
    tenant: 'default',
    actor: { kind: 'system', id: 'test' },
    $correlationId: 'c',
    $causationId: 'c',
    occurred_at: '2026-01-01T00:00:00.000Z',
    schema_version: 1,
    ...parts,
  };
}
