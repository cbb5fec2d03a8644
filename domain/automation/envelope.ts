import type { JsonObject } from '../json.ts';

/** Body of a webhook request. `old_data` exists for `after_update` only. */
export type Envelope = {
  readonly event: string;
  readonly schema: string;
  readonly data: JsonObject;
  readonly old_data?: JsonObject;
  /** RFC 3339, UTC. */
  readonly timestamp: string;
};

/** Fields to send, or to leave out. An empty list has no effect. */
export type FieldLists = { readonly include_fields: readonly string[]; readonly exclude_fields: readonly string[] };

/** Removes fields of `data` according to the lists. `old_data` keeps all its fields. */
export function trimEnvelope(envelope: Envelope, { include_fields, exclude_fields }: FieldLists): Envelope {
  if (include_fields.length === 0 && exclude_fields.length === 0) return envelope;
  const sentFields = Object.entries(envelope.data).filter(
    ([name]) => (include_fields.length === 0 || include_fields.includes(name)) && !exclude_fields.includes(name),
  );
  return { ...envelope, data: Object.fromEntries(sentFields) };
}
