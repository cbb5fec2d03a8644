import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:http';

/** One event as a client of server-sent events sees it. */
export type ReceivedEvent = { readonly id: string; readonly event: string; readonly data: string };

export type EventSource = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** The whole body of an answer that is no stream. */
  text(): Promise<string>;
  /** Everything received so far. */
  readonly received: readonly ReceivedEvent[];
  /** The raw text received so far. */
  raw(): string;
  /** Id that the client would come back with. */
  lastId(): string;
  /** Resolves when the connection is over. */
  readonly ended: Promise<'ended' | 'broken'>;
  close(): void;
};

/** Opens a stream of server-sent events; the reader follows the standard: an id without data moves the place and is no event. */
export async function openEventSource(url: string, headers: Readonly<Record<string, string>>): Promise<EventSource> {
  const request = get(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const received: ReceivedEvent[] = [];
  let all = '';
  let rest = '';
  let lastId = '';
  response.setEncoding('utf8').on('data', (text: string) => {
    all += text;
    rest += text;
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const lines = rest.slice(0, end).split('\n');
      rest = rest.slice(end + 2);
      const field = (name: string) => lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''));
      lastId = field('id').at(-1) ?? lastId;
      const data = field('data').join('\n');
      if (data !== '') received.push({ id: lastId, event: field('event').at(-1) ?? 'message', data });
    }
  });
  const ended = new Promise<'ended' | 'broken'>((resolve) => {
    response.on('end', () => {
      resolve('ended');
    });
    response.on('error', () => {
      resolve('broken');
    });
    response.on('close', () => {
      resolve('broken');
    });
  });
  request.on('error', () => undefined);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    received,
    raw: () => all,
    text: async () => {
      await ended;
      return all;
    },
    lastId: () => lastId,
    ended,
    close: () => {
      response.destroy();
    },
  };
}
