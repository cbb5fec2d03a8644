import { client, text } from '../../infrastructure/cli/demo/http.ts';
import type { Service } from './http-workloads.ts';
import { median } from './median.ts';
import type { Figure } from './report.ts';

const SHORT = 10;
const ROUNDS = 300;

/** Compares updates of an entry with a long history and one with ten revisions, by medians of alternating updates. */
export async function longHistory({
  service,
  key,
  revisions,
}: {
  readonly service: Service;
  readonly key: string;
  readonly revisions: number;
}): Promise<Figure> {
  const content = client(service.contentUrl, { 'x-api-key': key });
  const create = async () =>
    `/api/v1/content/article/${text(await content('POST', '/api/v1/content/article', { data: { title: 'long', rating: 0 } }), 'id')}`;
  let n = 0;
  const update = (path: string) => content('PUT', path, { data: { rating: n++ } });
  const [short, long] = [await create(), await create()];
  for (let revision = 1; revision < SHORT; revision += 1) await update(short);
  for (let revision = 1; revision < revisions; revision += 50)
    await Promise.all(Array.from({ length: 50 }, () => update(long)));
  const times = { short: [] as number[], long: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, path] of [
      ['short', short],
      ['long', long],
    ] as const) {
      const began = performance.now();
      await update(path);
      times[name].push(performance.now() - began);
    }
  }
  const [brief, lengthy] = [median(times.short), median(times.long)];
  return {
    name: `update at ${revisions.toLocaleString('en')} revisions`,
    value: lengthy / brief,
    unit: 'times one at 10',
    target: { most: 2 },
    note: `${lengthy.toFixed(2)} ms beside ${brief.toFixed(2)} ms`,
  };
}
