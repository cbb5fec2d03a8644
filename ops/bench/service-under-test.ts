import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../infrastructure/postgres/embedded/embedded-postgres.ts';
import type { Service } from './http-workloads.ts';
import { type Running, SERVER_CORE, startNode } from './processes.ts';

const SETUP_TOKEN = 'a-setup-token-for-benches';

/** Starts an embedded PostgreSQL with fsync in a temporary directory. */
export async function startDatabase(): Promise<EmbeddedPostgres & { readonly directory: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'palimpsest-bench-'));
  const server = await startEmbeddedPostgres({ directory: join(directory, 'postgres') });
  return {
    ...server,
    directory,
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type ServiceUnderTest = Service & Running & { readonly startedInMs: number };

/** Starts `palimpsest serve` from the bundle on the server core, and checks that `/readyz` is 200. */
export async function startServiceUnderTest({
  databaseUrl,
  directory,
  environment = {},
}: {
  readonly databaseUrl: string;
  readonly directory: string;
  readonly environment?: Readonly<Record<string, string>>;
}): Promise<ServiceUnderTest> {
  const began = performance.now();
  let listening: (urls: { admin: string; content: string }) => void;
  const urls = new Promise<{ admin: string; content: string }>((resolve) => {
    listening = resolve;
  });
  const process = startNode({
    args: ['dist/palimpsest.js', 'serve'],
    core: SERVER_CORE,
    env: {
      APP_ENV: 'development',
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      JWT_SECRET: 'f3d1c0a95b7e4826d1f0',
      ENCRYPTION_KEY: '0b9d4c6e8f7a41253c6b8d9e0f1a2b3c4d5e6f70',
      SVC_SETUP_TOKEN: SETUP_TOKEN,
      JWT_KEY_PATH: join(directory, 'jwt_key.json'),
      ADMIN_LISTEN_ADDR: '127.0.0.1:0',
      API_LISTEN_ADDR: '127.0.0.1:0',
      WEBHOOK_ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8',
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'json',
      ...environment,
    },
    onLine(line) {
      if (!line.includes('"listening"')) return;
      const { admin, content } = JSON.parse(line) as { admin: string; content: string };
      listening({ admin, content });
    },
  });
  const { admin, content } = await urls;
  const ready = await fetch(`${content}/readyz`);
  if (!ready.ok) throw new Error(`/readyz answered ${ready.status}`);
  return {
    ...process,
    adminUrl: admin,
    contentUrl: content,
    setupToken: SETUP_TOKEN,
    databaseUrl,
    startedInMs: performance.now() - began,
  };
}
