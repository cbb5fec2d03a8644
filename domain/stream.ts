/** The categories of streams; also the last part of the topic names (spec 4 D). */
export const CATEGORIES = [
  'entry', 'content_type', 'translation', 'media', 'tenant', 'user', 'api_key', 'webhook', 'flow', 'flow_run', 'alert', 'settings', 'audit', 'release', 'comment', 'access_rule', 'admin_token',
] as const;

export type Category = (typeof CATEGORIES)[number];

/** Parts of a stream's name `<category>-<tenant>.<id>` (spec 5, rule 2). */
export type StreamParts = { readonly category: Category; readonly tenant: string; readonly id: string };

/** Tenants' slugs: lower-case letters, digits and `_`, first a letter, at most 63 (spec 1). */
export const TENANT_SLUG = /^[a-z][a-z0-9_]{0,62}$/;

const STREAM = new RegExp(`^(${CATEGORIES.join('|')})-([a-z][a-z0-9_]{0,62})\\.(.+)$`);

/** Name of a stream. `id` must hold no personal data. */
export function streamName({ category, tenant, id }: StreamParts): string {
  return `${category}-${tenant}.${id}`;
}

/** Takes a stream's name apart. @returns undefined for a stream that is not the project's. */
export function parseStream(stream: string): StreamParts | undefined {
  const match = STREAM.exec(stream);
  if (!match) return undefined;
  const [, category, tenant, id] = match;
  return { category: category as Category, tenant: tenant as string, id: id as string };
}

/** Category of any stream: what stands before the first `-`. */
export function categoryOf(stream: string): string {
  const dash = stream.indexOf('-');
  return dash < 0 ? stream : stream.slice(0, dash);
}
