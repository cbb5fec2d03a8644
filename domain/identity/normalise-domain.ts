const MAX_LENGTH = 253;
const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const HOST_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/**
 * Normalises the domain of a tenant: lower case, without port and trailing dot, in the ASCII form that browsers send.
 * @returns undefined when it is not a host name
 */
export function normaliseDomain(text: string): string | undefined {
  const bare = text
    .trim()
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '');
  if (
    bare === '' ||
    bare.length > MAX_LENGTH ||
    /[\u0000-\u0020/?#@\\[\]:%]/.test(bare) ||
    !URL.canParse(`http://${bare}/`)
  )
    return undefined;
  const host = new URL(`http://${bare}/`).hostname;
  return host.length <= MAX_LENGTH && HOST_NAME.test(host) ? host : undefined;
}
