import type { Readable } from 'node:stream';

/** Reads at most `limit` bytes as text, without decompression. A longer body is truncated and its connection closed. */
export async function readBody(
  body: Readable,
  limit: number,
): Promise<{ readonly text: string; readonly truncated: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const left = limit - size;
    if (chunk.length > left) {
      chunks.push(chunk.subarray(0, left));
      body.destroy();
      return { text: Buffer.concat(chunks).toString('utf8'), truncated: true };
    }
    chunks.push(chunk);
    size += chunk.length;
  }
  return { text: Buffer.concat(chunks, size).toString('utf8'), truncated: false };
}
