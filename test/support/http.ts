import { Agent, request } from 'undici';

/** A response with its whole body. */
export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body parsed as JSON. @throws SyntaxError */
  json<T = Record<string, unknown>>(): T;
};

export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Reply>;

/** The status and the message of a response; undefined: it has no message. */
export function statusAndError(reply: Reply): readonly [number, string | undefined] {
  return [reply.status, reply.text === '' ? undefined : reply.json<{ error?: string }>().error];
}

/** The body of a response with the status. @throws Error with the text of the response when it has another status */
export function resultOf<T = Record<string, unknown>>(reply: Reply, status: 200 | 201 | 202 = 200): T {
  if (reply.status !== status) throw new Error(`${reply.status} instead of ${status}: ${reply.text}`);
  return reply.json<T>();
}

/**
 * A client of one base address, with fixed headers. Sends text and buffers unchanged and other bodies as JSON. Does not
 * follow redirects.
 */
export function caller(
  base: () => string,
  fixed: Readonly<Record<string, string>> = {},
  agent = new Agent({ connections: 64 }),
): Call {
  return async (method, path, body, headers = {}) => {
    const raw = typeof body === 'string' || Buffer.isBuffer(body);
    const answer = await request(`${base()}${path}`, {
      method: method as 'GET',
      headers: { ...(body === undefined || raw ? {} : { 'content-type': 'application/json' }), ...fixed, ...headers },
      body: body === undefined ? null : raw ? body : JSON.stringify(body),
      dispatcher: agent,
    });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      headers: Object.fromEntries(
        Object.entries(answer.headers).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.join(', ') : (value ?? ''),
        ]),
      ),
      text,
      json: <T>() => JSON.parse(text) as T,
    };
  };
}
