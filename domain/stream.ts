/** Categories of streams; also the last part of the Kafka topic names. */
export const CATEGORIES = [
  'entry',
  'content_type',
  'translation',
  'media',
  'tenant',
  'user',
  'api_key',
  'webhook',
  'flow',
  'flow_run',
  'alert',
  'settings',
  'audit',
  'release',
  'comment',
  'access_rule',
  'admin_token',
] as const;

export type Category = (typeof CATEGORIES)[number];

/** Parts of a stream name `<category>-<tenant>.<id>`. */
export type StreamParts = { readonly category: Category; readonly tenant: string; readonly id: string };

/** A tenant slug: lower-case letters, digits and `_`, starting with a letter, at most 63 characters. */
export const TENANT_SLUG = /^[a-z][a-z0-9_]{0,62}$/;

const STREAM = new RegExp(`^(${CATEGORIES.join('|')})-([a-z][a-z0-9_]{0,62})\\.(.+)$`);

/** Name of a stream. `id` must not contain personal data. */
export function streamName({ category, tenant, id }: StreamParts): string {
  return `${category}-${tenant}.${id}`;
}

/** Parses a stream name. @returns undefined for a stream of another system */
export function parseStream(stream: string): StreamParts | undefined {
  const match = STREAM.exec(stream);
  if (!match) return undefined;
  const [, category, tenant, id] = match;
  return { category: category as Category, tenant: tenant as string, id: id as string };
}

/**
 * Parses the name of a stream that must have one of the categories.
 * @throws TypeError for any other stream
 */
export function partsOf(stream: string, ...categories: readonly Category[]): StreamParts {
  const parts = parseStream(stream);
  if (!parts || !categories.includes(parts.category))
    throw new TypeError(`not a stream of ${categories.join(', ')}: ${stream}`);
  return parts;
}

/** Category of any stream: the text before the first `-`; the whole name without one. */
export function categoryOf(stream: string): string {
  const dash = stream.indexOf('-');
  return dash < 0 ? stream : stream.slice(0, dash);
}
