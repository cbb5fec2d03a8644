import type { Exchange } from './exchange.ts';
import type { Answer } from './route.ts';

type StreamedAnswer = Answer & { readonly stream: AsyncIterable<string | Uint8Array> };

export type SendStreamOptions = {
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal | undefined;
  /** A piece failed, or giving the iterator back did. */
  readonly onError: (error: unknown) => void;
};

/**
 * Sends the pieces of a streamed answer whose head is written, each when the client has taken those before. Ends when the pieces end, the client is
 * gone, or the service stops and the answer is endless; breaks off when a piece fails. The iterator is given back in every case.
 * @returns how many bytes the body held
 */
export async function sendStream(exchange: Exchange, answer: StreamedAnswer, { stopping, onError }: SendStreamOptions): Promise<number> {
  const { request, response, signal } = exchange;
  const iterator = answer.stream[Symbol.asyncIterator]();
  let over = response.destroyed || response.writableEnded || request.method === 'HEAD' || (answer.endless === true && stopping?.aborted === true);
  let wake: () => void = () => undefined;
  const stop = (): void => {
    over = true;
    wake();
  };
  const stopEndless = (): void => {
    exchange.end();
  };
  signal.addEventListener('abort', stop);
  if (answer.endless === true) stopping?.addEventListener('abort', stopEndless);
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
      if (answer.trailers && !isOver()) response.addTrailers(answer.trailers.read());
      response.end();
    }
  } catch (error) {
    onError(error);
    response.destroy();
  } finally {
    signal.removeEventListener('abort', stop);
    stopping?.removeEventListener('abort', stopEndless);
    exchange.end();
    // Not waited for: an iterator that is busy gives itself back when it hears of the signal.
    Promise.resolve(iterator.return?.()).catch(onError);
  }
  return bytes;

  // A call, because the compiler believes that nothing changes between two lines.
  function isOver(): boolean {
    return over;
  }

  /** One waiter at a time, so that a long stream leaves nothing behind on the signal. @returns undefined when the answer is over first */
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
