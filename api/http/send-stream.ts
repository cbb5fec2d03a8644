import type { Exchange } from './exchange.ts';
import type { RouteResponse } from './route.ts';

type StreamedResponse = RouteResponse & { readonly stream: AsyncIterable<string | Uint8Array> };

export type SendStreamOptions = {
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal | undefined;
  /** Called when reading a piece or closing the iterator fails. */
  readonly onError: (error: unknown) => void;
};

/**
 * Sends the pieces of a streamed response whose head was sent, as fast as the client reads them. Ends when the pieces
 * end, the client disconnects, or the service stops and the response is endless. Breaks the connection when a piece
 * fails. Always closes the iterator.
 * @returns the number of bytes of the body
 */
export async function sendStream(
  exchange: Exchange,
  routeResponse: StreamedResponse,
  { stopping, onError }: SendStreamOptions,
): Promise<number> {
  const { request, response, signal } = exchange;
  const iterator = routeResponse.stream[Symbol.asyncIterator]();
  let over =
    response.destroyed ||
    response.writableEnded ||
    request.method === 'HEAD' ||
    (routeResponse.endless === true && stopping?.aborted === true);
  let wake: () => void = () => undefined;
  const stop = (): void => {
    over = true;
    wake();
  };
  const stopEndless = (): void => {
    exchange.end();
  };
  signal.addEventListener('abort', stop);
  if (routeResponse.endless === true) stopping?.addEventListener('abort', stopEndless);
  let bytes = 0;
  try {
    if (!over) response.flushHeaders();
    while (!isOver()) {
      const next = await unlessOver(iterator.next());
      if (!next || next.done === true) break;
      bytes += typeof next.value === 'string' ? Buffer.byteLength(next.value) : next.value.byteLength;
      if (!response.write(next.value)) await unlessOver(drained());
    }
    if (!response.destroyed) {
      if (routeResponse.trailers && !isOver()) response.addTrailers(routeResponse.trailers.read());
      response.end();
    }
  } catch (error) {
    onError(error);
    response.destroy();
  } finally {
    signal.removeEventListener('abort', stop);
    stopping?.removeEventListener('abort', stopEndless);
    exchange.end();
    // Do not await: an iterator that waits for its next piece closes only when its abort signal fires.
    Promise.resolve(iterator.return?.()).catch(onError);
  }
  return bytes;

  // A function, because TypeScript assumes that `over` does not change across an await.
  function isOver(): boolean {
    return over;
  }

  /**
   * Waits for `work` or the end of the response. Keeps one waiter, so that a long stream adds no listeners to the
   * signal.
   * @returns undefined when the response ends first
   */
  function unlessOver<T>(work: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      wake = () => {
        resolve(undefined);
      };
      work.then(resolve, reject);
      if (over) wake();
    });
  }

  function drained(): Promise<void> {
    return new Promise((resolve) => {
      response.once('drain', resolve);
    });
  }
}
