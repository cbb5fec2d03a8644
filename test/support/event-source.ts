import { once } from 'node:events';
import { type IncomingMessage, get } from 'node:http';

/** One server-sent event as a client receives it. */
export type ReceivedEvent = { readonly id: string; readonly event: string; readonly data: string };

export type EventSource = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** The whole body, after the connection has ended. */
  text(): Promise<string>;
  /** The events received so far. */
  readonly received: readonly ReceivedEvent[];
  /** The raw text received so far. */
  raw(): string;
  /** The id that a client sends as `Last-Event-ID` when it reconnects. */
  lastId(): string;
  /** Resolves when the connection has ended. */
  readonly ended: Promise<'ended' | 'broken'>;
  close(): void;
};

/**
 * Opens a stream of server-sent events. As in the WHATWG standard, a block with an id and no data changes the last id
 * and is not an event.
 */
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
      const field = (name: string) =>
        lines
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
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
