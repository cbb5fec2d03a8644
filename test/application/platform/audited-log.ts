import { v7 as uuidv7 } from 'uuid';
import type { AuditDependencies } from '../../../application/platform/audit-dependencies.ts';
import { chainAudit } from '../../../application/platform/chain-audit.ts';
import { ChainsStopped } from '../../../application/platform/load-chains.ts';
import { signAudit } from '../../../application/platform/sign-audit.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { createAudit } from '../../../infrastructure/composition/audit/create-audit.ts';
import { openPostgresEventStore } from '../../../infrastructure/event-store/postgres/postgres-event-store.ts';
import type { Database, Transaction } from '../../../infrastructure/postgres/database.ts';
import { newEvent } from '../../contract/event-store-fixtures.ts';
import { useDatabase } from '../../support/database.ts';

const KEY = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';

/** A log in PostgreSQL with its audit chain, and what an attacker with write access to the database can do to both. */
export type AuditedLog = {
  readonly audit: () => AuditDependencies;
  readonly eventStore: () => EventStore;
  readonly database: () => Database;
  /** Appends one event to the only entry of a tenant. @returns its id */
  append(tenant: string, data?: JsonObject): Promise<string>;
  /** Chains and signs the log up to its head. */
  sign(): Promise<void>;
  /** The signed content of all audit signatures in the log, as compact JWS. */
  anchors(): Promise<readonly string[]>;
  /** Runs statements as a superuser of the database, with the triggers of the log disabled. */
  forge(step: (tx: Transaction) => Promise<unknown>): Promise<void>;
  /** Keeps a copy of tables, by default of all tables of the log and of its chain. */
  keep(tables?: readonly string[]): Promise<void>;
  /** Puts the kept copies back. */
  putBack(): Promise<void>;
};

export const CHAIN_TABLES = [
  'operational.audit_links',
  'operational.audit_heads',
  'operational.audit_progress',
  'operational.audit_state',
] as const;
const LOG_TABLES = ['eventstore.events', 'eventstore.head'] as const;

/** Opens an audited log of its own for the enclosing `describe`. */
export function useAuditedLog(): AuditedLog {
  let eventStore: EventStore | undefined;
  let audit: AuditDependencies | undefined;
  after(() => eventStore?.close());
  const database = useDatabase();
  let kept: readonly string[] = [];

  before(async () => {
    eventStore = await openPostgresEventStore({ database: database.db() });
    ({ dependencies: audit } = await createAudit({
      database: database.db(),
      eventStore,
      settings: { auditHmacKey: KEY, encryptionKey: undefined },
      now: () => new Date(),
      newId: () => uuidv7(),
    }));
  });
  const store = (): EventStore => {
    if (!eventStore) throw new Error('the log is open inside tests and hooks only');
    return eventStore;
  };
  const dependencies = (): AuditDependencies => {
    if (!audit) throw new Error('the chain is open inside tests and hooks only');
    return audit;
  };
  const forge: AuditedLog['forge'] = (step) =>
    database.db().transaction(async (tx) => {
      for (const table of LOG_TABLES) await tx.query(`alter table ${table} disable trigger append_only`);
      await step(tx);
      for (const table of LOG_TABLES) await tx.query(`alter table ${table} enable always trigger append_only`);
    });

  return {
    audit: dependencies,
    eventStore: store,
    database: () => database.db(),
    async append(tenant, data = { title: 'as written' }) {
      const event = newEvent({ tenant, data });
      await store().append(`entry-${tenant}.one`, [event], { expected: 'any' });
      return event.id;
    },
    async sign() {
      try {
        await chainAudit({}, dependencies());
        await signAudit({ everySeconds: 0 }, dependencies());
        // Chains the signatures too.
        await chainAudit({}, dependencies());
      } catch (error) {
        // A service reports it and goes on.
        if (!(error instanceof ChainsStopped)) throw error;
      }
    },
    async anchors() {
      const found: string[] = [];
      for await (const { type, data } of store().readAll({ filter: { categories: ['audit'] } }))
        if (type === 'AuditSealed' && typeof data['jws'] === 'string') found.push(data['jws']);
      return found;
    },
    forge,
    async keep(tables = [...LOG_TABLES, ...CHAIN_TABLES]) {
      kept = tables;
      await database.db().query('create schema kept');
      for (const [at, table] of tables.entries())
        await database.db().query(`create table kept.copy_${String(at)} as table ${table}`);
    },
    putBack: () =>
      forge(async (tx) => {
        for (const [at, table] of kept.entries()) {
          await tx.query(`delete from ${table}`);
          await tx.query(`insert into ${table} select * from kept.copy_${String(at)}`);
        }
      }),
  };
}
