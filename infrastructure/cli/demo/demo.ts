import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProgress } from '../progress.ts';
import { demoContentTypes } from './content-types.ts';
import { HttpRefusal, type Send, client, member, text } from './http.ts';
import { type DemoPackage, installedPackages, packageDirectories } from './package-files.ts';

export type DemoOptions = {
  readonly adminUrl: string;
  readonly contentUrl: string;
  /** Undefined once an account exists. */
  readonly setupToken: string | undefined;
  readonly dataDirectory: string;
  readonly nodeModules: string;
  readonly print: (line: string) => void;
};

export type DemoSummary = {
  readonly packages: number;
  readonly documents: number;
  readonly bytes: number;
  readonly seconds: number;
};

/** Keeps requests well below the default limit of a JSON body. */
const MAX_BATCH_BYTES = 400_000;
const MAX_BATCH_ENTRIES = 200;

/**
 * Loads the README and CHANGELOG files of the installed packages through the Content API, as a client does, and prints
 * three requests to try. A second run skips the packages that exist.
 * @throws Error when an account exists that the demo did not create
 */
export async function runDemo(options: DemoOptions): Promise<DemoSummary> {
  const key = await credential(options);
  const content = client(options.contentUrl, { 'x-api-key': key });
  const total = (await packageDirectories(options.nodeModules)).length;
  const progress = createProgress();
  const onProgress = (done: number): void => {
    progress.update({ label: 'Loading packages', unit: 'packages' }, done, total);
  };
  const started = performance.now();
  const loaded = await load({ content, nodeModules: options.nodeModules, onProgress });
  onProgress(total);
  progress.finish();
  const seconds = (performance.now() - started) / 1000;
  const summary = { packages: loaded.packages, documents: loaded.documents, bytes: loaded.bytes, seconds };
  const entries = summary.packages + summary.documents;
  options.print(
    `Loaded ${entries} entries (${summary.packages} packages, ${summary.documents} documents), ` +
      `${(summary.bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s: ` +
      `${Math.round(entries / seconds)} entries per second.`,
  );
  await suggest({ content, contentUrl: options.contentUrl, key, print: options.print });
  return summary;
}

/** The API key of an earlier demo in this data directory; else creates an account, the content types and a key. */
async function credential({ adminUrl, setupToken, dataDirectory, print }: DemoOptions): Promise<string> {
  const file = join(dataDirectory, 'demo.json');
  const saved = await readFile(file, 'utf8').catch(() => undefined);
  if (saved !== undefined) return text(JSON.parse(saved), 'api_key');
  if (setupToken === undefined)
    throw new Error('the demo needs a data directory without accounts: set another SVC_DATA_DIR');
  const email = 'admin@palimpsest.localhost';
  const password = `Demo-${randomBytes(12).toString('hex')}-7`;
  const session = await client(adminUrl, {})('POST', '/api/admin/setup', { email, password, setup_token: setupToken });
  const admin = client(adminUrl, { authorization: `Bearer ${text(session, 'token')}` });
  for (const definition of demoContentTypes) await admin('POST', '/api/admin/schemas', definition);
  const created = await admin('POST', '/api/admin/api-keys', {
    name: 'demonstration',
    roles: ['editor'],
    scopes: ['content:*', 'schemas:read'],
  });
  const key = text(created, 'raw_key');
  await writeFile(file, JSON.stringify({ email, password, api_key: key }, undefined, 2), { mode: 0o600 });
  print(`Created an account: ${email}, password ${password} (kept in ${file}).`);
  return key;
}

type Loaded = { packages: number; documents: number; bytes: number };

async function load({
  content,
  nodeModules,
  onProgress,
}: {
  content: Send;
  nodeModules: string;
  /** Called with the number of packages read so far. */
  onProgress: (done: number) => void;
}): Promise<Loaded> {
  const loaded: Loaded = { packages: 0, documents: 0, bytes: 0 };
  let batch: DemoPackage[] = [];
  let seen = 0;
  for await (const found of installedPackages(nodeModules)) {
    batch.push(found);
    seen += 1;
    if (batch.length < 50) continue;
    await loadBatch(content, batch, loaded);
    onProgress(seen);
    batch = [];
  }
  await loadBatch(content, batch, loaded);
  return loaded;
}

async function loadBatch(content: Send, packages: readonly DemoPackage[], loaded: Loaded): Promise<void> {
  const fresh = await createPackages(content, packages);
  loaded.packages += fresh.length;
  const documents = fresh.flatMap(({ id, found }) =>
    found.documents.map(({ title, kind, body }) => ({ data: { title, kind, body, package_id: id } })),
  );
  for (const part of parts(documents)) {
    await content('POST', '/api/v1/content/document/bulk', { entries: part });
    loaded.documents += part.length;
    loaded.bytes += part.reduce((sum, { data }) => sum + Buffer.byteLength(data.body), 0);
  }
}

type Created = { readonly id: string; readonly found: DemoPackage };

/**
 * Creates the packages in one request. When some exist already, creates the others one by one.
 * @returns those that were created
 */
async function createPackages(content: Send, packages: readonly DemoPackage[]): Promise<readonly Created[]> {
  if (packages.length === 0) return [];
  const bodies = packages.map(packageData);
  try {
    const answer = await content('POST', '/api/v1/content/package/bulk', { entries: bodies.map((data) => ({ data })) });
    const entries = member(answer, 'data');
    return Array.isArray(entries) ? packages.map((found, index) => ({ found, id: text(entries[index], 'id') })) : [];
  } catch (error) {
    if (!(error instanceof HttpRefusal) || error.status !== 409) throw error;
  }
  const created: Created[] = [];
  for (const [index, found] of packages.entries()) {
    try {
      created.push({
        found,
        id: text(await content('POST', '/api/v1/content/package', { data: bodies[index] }), 'id'),
      });
    } catch (error) {
      if (!(error instanceof HttpRefusal) || error.status !== 409) throw error;
    }
  }
  return created;
}

function packageData({ name, version, description, license, homepage, documents }: DemoPackage) {
  const bytes = documents.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
  return {
    name,
    version_number: version,
    description,
    license,
    bytes,
    ...(homepage === undefined ? {} : { homepage }),
  };
}

/** Splits a list into parts that each fit into one request. */
function* parts<T extends { readonly data: { readonly body: string } }>(items: readonly T[]): Iterable<readonly T[]> {
  let part: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item.data.body));
    if (part.length > 0 && (bytes + size > MAX_BATCH_BYTES || part.length === MAX_BATCH_ENTRIES)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(item);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** Edits one package twice, so that it has a history, and prints three requests to try. */
async function suggest({
  content,
  contentUrl,
  key,
  print,
}: {
  content: Send;
  contentUrl: string;
  key: string;
  print: (line: string) => void;
}): Promise<void> {
  const list = await content('GET', '/api/v1/content/package?filters[name]=express&limit=1');
  const fallback =
    Array.isArray(list) && list.length > 0 ? list : await content('GET', '/api/v1/content/package?limit=1');
  const entry: unknown = Array.isArray(fallback) ? fallback[0] : undefined;
  const path = `/api/v1/content/package/${text(entry, 'id')}`;
  const description = text(member(entry, 'data'), 'description');
  await content('PUT', path, { data: { description: `${description} (edited)` } });
  const then = text(await content('GET', path), 'updated_at');
  await content('PUT', path, { data: { description } });
  const curl = (target: string) => `  curl -g -H 'X-API-Key: ${key}' '${contentUrl}${target}'`;
  print('\nThree requests to try:\n');
  print(
    `A filtered and sorted list:\n${curl('/api/v1/content/package?filters[license]=MIT&filters[bytes][$gt]=20000&sort=-bytes&limit=5')}\n`,
  );
  print(`The whole history of one entry:\n${curl(`${path}/revisions`)}\n`);
  print(`The same entry at an earlier point in time:\n${curl(`${path}?as_of=${then}`)}\n`);
}
