import { ownValue } from '../../../domain/own-value.ts';
/** A response with a status from 400, with the beginning of its body. */
export class HttpRefusal extends Error {
  readonly status: number;
  constructor(method: string, url: string, status: number, body: string) {
    super(`${method} ${url} answered ${status}: ${body.slice(0, 500)}`);
    this.name = 'HttpRefusal';
    this.status = status;
  }
}

export type Send = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** Sends JSON to the Admin API or the Content API. @throws HttpRefusal for every status from 400 */
export function client(base: string, headers: Readonly<Record<string, string>>): Send {
  return async (method, path, body) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status >= 400) throw new HttpRefusal(method, `${base}${path}`, response.status, text);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  };
}

/** Reads a member of a response. @throws TypeError when it does not exist */
export function member(answer: unknown, name: string): unknown {
  if (typeof answer !== 'object' || answer === null || !Object.hasOwn(answer, name))
    throw new TypeError(`the response contains no "${name}"`);
  return ownValue(answer as Readonly<Record<string, unknown>>, name);
}

/** Reads a string member of a response. @throws TypeError when it is not a string */
export function text(answer: unknown, name: string): string {
  const value = member(answer, name);
  if (typeof value !== 'string') throw new TypeError(`"${name}" of the response is not a string`);
  return value;
}
