import { v7 as uuidv7 } from 'uuid';
import { restartChains } from '../../../application/platform/restart-chains.ts';
import {
  type TenantVerdict,
  type VerifyChainsInput,
  verifyChains,
} from '../../../application/platform/verify-chains.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { type GlobalPosition, parsePosition } from '../../../domain/event.ts';
import { digest } from '../../../projections/engine/digest.ts';
import type { RebuildProgress } from '../../../projections/engine/fill-next-schema.ts';
import type { Projection } from '../../../projections/engine/projection.ts';
import { rebuild } from '../../../projections/engine/rebuild.ts';
import { type ReplayProgress, type UnappliedStream, replay } from '../../../projections/engine/replay.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import { openDatabase } from '../../postgres/database.ts';
import { readAnchorFile } from '../audit/anchor-file.ts';
import { createAudit } from '../audit/create-audit.ts';
import { openStores } from '../platform/open-stores.ts';
import { projections } from '../platform/projections.ts';

/**
 * One table of a read model, as `rebuild` and `replay` print it. `checksum` depends on the rows, not on their order.
 */
export type TableLine = { readonly table: string; readonly rows: number; readonly checksum: string };

export type OpenCommands = {
  /** Checksums of the live read models. */
  digest(): Promise<readonly TableLine[]>;
  /**
   * Rebuilds one read model, or `all`, beside the live one and swaps it in.
   * @throws Error with the names of the tables that differ from the live ones, unless `force` is set; Error for an
   * unknown name
   */
  rebuild(name: string, options?: RebuildCommand): Promise<readonly TableLine[]>;
  /** Builds all read models in an empty database. */
  replay(options: ReplayCommand): Promise<readonly TableLine[]>;
  /** Verifies the log of one tenant, or of each, against its audit chain. */
  verifyAudit(options?: VerifyAuditCommand): Promise<readonly TenantVerdict[]>;
  /** Starts the audit chains again. @returns the number of the new generation */
  restartAudit(): Promise<number>;
  close(): Promise<void>;
};

export type VerifyAuditCommand = Pick<VerifyChainsInput, 'tenant' | 'onProgress'> & {
  /** Path of a file with copies of audit signatures. */
  readonly anchors?: string;
};

export type RebuildCommand = OnUnapplied & {
  readonly force?: boolean;
  readonly onProgress?: (progress: RebuildProgress) => void;
};

type OnUnapplied = {
  /** Called at the end for each stream that the tables lack events of, because an event cannot be applied. */
  readonly onUnapplied?: (stream: UnappliedStream) => void;
};

export type ReplayCommand = OnUnapplied & {
  /** Connection string of the empty database. */
  readonly to: string;
  /** Last event: a position (20 digits) or a time (RFC 3339). Default: the head of the log. */
  readonly until?: string;
  readonly tenant?: string;
  readonly onProgress?: (progress: ReplayProgress) => void;
};

/** Opens the stores for the commands that run beside a service. A running service is not affected. */
export async function openCommands({
  settings,
  logger,
}: {
  readonly settings: Settings;
  readonly logger: Logger;
}): Promise<OpenCommands> {
  const stores = await openStores({ settings, logger });
  const { database, eventStore, leases, signals } = stores;

  async function rebuildOne(
    projection: Projection,
    { force = false, onProgress, onUnapplied }: RebuildCommand,
  ): Promise<readonly TableLine[]> {
    const report = await rebuild({
      database,
      eventStore,
      projection,
      leases,
      signals,
      logger,
      force,
      ...(onProgress ? { onProgress } : {}),
    });
    if (report.outcome === 'differs') {
      const tables = report.differences.map(({ table }) => `rm_${projection.name}.${table}`);
      throw new Error(
        `the rebuilt tables differ from the live ones, nothing was swapped: ${tables.join(', ')} (--force swaps anyway)`,
      );
    }
    for (const stream of report.parked) onUnapplied?.({ ...stream, projection: projection.name });
    return report.tables.map((table) => lineOf(projection, table));
  }

  return {
    async digest() {
      const lines: TableLine[] = [];
      for (const projection of projections) {
        const { tables } = await digest({ database, projection });
        lines.push(...tables.map((table) => lineOf(projection, table)));
      }
      return lines;
    },
    async rebuild(name, options = {}) {
      const wanted = name === 'all' ? projections : projections.filter((projection) => projection.name === name);
      if (wanted.length === 0)
        throw new Error(
          `there is no projection ${name}: ${projections.map((projection) => projection.name).join(', ')} or all`,
        );
      const lines: TableLine[] = [];
      for (const projection of wanted) lines.push(...(await rebuildOne(projection, options)));
      return lines;
    },
    async replay({ to, until, tenant, onProgress, onUnapplied }) {
      const target = openDatabase({ url: to, maxConnections: 4 });
      try {
        const report = await replay({
          to: target,
          eventStore,
          projections,
          ...(until === undefined ? {} : { until: untilOf(until) }),
          ...(tenant === undefined ? {} : { tenant }),
          ...(onProgress ? { onProgress } : {}),
        });
        for (const stream of report.parked) onUnapplied?.(stream);
        return report.tables.map((table) => lineOf({ name: table.projection }, table));
      } finally {
        await target.close();
      }
    },
    async verifyAudit({ anchors, ...input } = {}) {
      const { dependencies } = await createAudit({ ...stores, settings, now: () => new Date(), newId: uuidv7 });
      const file = anchors === undefined ? undefined : await readAnchorFile(anchors);
      return verifyChains({ ...input, anchors: file }, dependencies);
    },
    async restartAudit() {
      const { dependencies } = await createAudit({ ...stores, settings, now: () => new Date(), newId: uuidv7 });
      return restartChains({}, dependencies);
    },
    close: () => stores.close(),
  };
}

function lineOf({ name }: Pick<Projection, 'name'>, { table, rows, checksum }: TableLine): TableLine {
  return { table: `rm_${name}.${table}`, rows, checksum };
}

function untilOf(text: string): GlobalPosition | Date {
  const position = parsePosition(text);
  if (position !== undefined) return position;
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new Error(`--until takes a position of 20 digits or a time such as 2026-11-20T12:00:00Z`);
  return time;
}
