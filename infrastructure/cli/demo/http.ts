/** A refused request, with what the service said. */
export class HttpRefusal extends Error {
  readonly status: number;
  constructor(method: string, url: string, status: number, body: string) {
    super(`${method} ${url} answered ${status}: ${body.slice(0, 500)}`);
    this.name = 'HttpRefusal';
    this.status = status;
  }
}

export type Send = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** Sends JSON to one of the two APIs. @throws HttpRefusal for every status from 400 */
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

/** Reads one member of an answer. @throws TypeError when it is not there */
export function member(answer: unknown, name: string): unknown {
  if (typeof answer !== 'object' || answer === null || !(name in answer)) throw new TypeError(`the answer holds no "${name}"`);
  return (answer as Readonly<Record<string, unknown>>)[name];
}

/** Reads one text member of an answer. */
export function text(answer: unknown, name: string): string {
  const value = member(answer, name);
  if (typeof value !== 'string') throw new TypeError(`"${name}" of the answer is no text`);
  return value;
}
