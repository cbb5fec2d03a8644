import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Service,
  type StartServiceOptions,
  startService,
} from '../../infrastructure/composition/start-service.ts';
import { loadSettings } from '../../infrastructure/configuration/load-settings.ts';
import { environmentLayer } from '../../infrastructure/configuration/read-settings.ts';
import { type TestDatabase, useDatabase } from './database.ts';
import { useDirectory } from './directory.ts';
import { type Call, caller } from './http.ts';
import { OWNER, SETUP_TOKEN } from './owner.ts';
import { HIGH_SIGN_IN_LIMITS } from './protections.ts';
import { type LoggedLine, recordingLogger } from './recording-logger.ts';
import { testEnvironment } from './service.ts';

export type Replica = {
  readonly service: Service;
  /** Calls the Admin API as the super admin. */
  readonly owner: Call;
  readonly ownerContent: Call;
  readonly lines: readonly LoggedLine[];
  /** Intervals of its periodic work, in milliseconds. */
  readonly intervals: readonly number[];
  /** Runs all periodic work once and waits until it is done. */
  tick(): Promise<void>;
  stop(): Promise<void>;
};

export type Replicas = {
  readonly database: TestDatabase;
  /** Creates a data directory, which replicas of one machine share. */
  directory(): string;
  /** Starts one more service on the database, by default with its own data directory. All stop after the test. */
  start(options?: {
    readonly environment?: Readonly<Record<string, string>>;
    readonly directory?: string | undefined;
  }): Promise<Replica>;
};

type ReplicaOptions = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly start?: Omit<StartServiceOptions, 'settings' | 'every' | 'logger'>;
};

/** Starts services that share one database, for the enclosing `describe`: replicas, or restarts of one service. */
export function useReplicas({ environment = {}, start = {} }: ReplicaOptions = {}): Replicas {
  /** Holds the signing key, which all machines of an installation share, and the data directories. */
  const shared = useDirectory();
  const running = new Set<Service>();
  const stopAll = async (): Promise<void> => {
    await Promise.all([...running].map((service) => service.stop()));
    running.clear();
  };
  afterEach(stopAll);
  after(stopAll);
  const database = useDatabase();
  const directory = (): string => mkdtempSync(join(shared(), 'replica-'));
  return {
    database,
    directory,
    async start(options = {}) {
      const logger = recordingLogger();
      const ticks: (() => Promise<void>)[] = [];
      const intervals: number[] = [];
      const all = {
        ...testEnvironment(database.url(), options.directory ?? directory()),
        JWT_KEY_PATH: join(shared(), 'jwt_key.json'),
        ...environment,
        ...options.environment,
      };
      const layers = [environmentLayer(all)];
      const service = await startService({
        protections: HIGH_SIGN_IN_LIMITS,
        ...start,
        logger,
        layers,
        settings: loadSettings(layers).settings,
        every(ms, work) {
          intervals.push(ms);
          ticks.push(work);
          return () => undefined;
        },
      });
      running.add(service);
      const admin = caller(() => service.adminUrl);
      const content = caller(() => service.contentUrl);
      const setup = await admin('POST', '/api/admin/setup', { ...OWNER, setup_token: SETUP_TOKEN });
      const signedIn = setup.status === 201 ? setup : await admin('POST', '/api/admin/auth/login', OWNER);
      const authorization = `Bearer ${signedIn.json<{ token: string }>().token}`;
      return {
        service,
        intervals,
        owner: (method, path, body, headers) => admin(method, path, body, { authorization, ...headers }),
        ownerContent: (method, path, body, headers) => content(method, path, body, { authorization, ...headers }),
        lines: logger.lines,
        async tick() {
          await Promise.all(ticks.map((work) => work()));
        },
        async stop() {
          running.delete(service);
          await service.stop();
        },
      };
    },
  };
}
