import type { GlobalPosition } from '../../domain/event.ts';
import { DEFAULT_TENANT } from '../../domain/identity/memberships.ts';
import { oneAtATime } from '../concurrency/one-at-a-time.ts';
import type { AccessRules } from '../ports/access-rules.ts';
import type { IdentityChanges } from '../ports/identity-changes.ts';
import type { ChangedTenant, IdentityReads } from '../ports/identity-reads.ts';
import type { ProjectionProgress } from '../ports/projection-progress.ts';
import { waitForReadModel } from '../wait-for-read-model.ts';
import { type CompiledAccessRules, REFUSED, compileAccessRules } from './compile-access-rules.ts';
import { IDENTITY } from './identity-read-model.ts';

export type TenantDirectoryDependencies = {
  readonly progress: Pick<ProjectionProgress, 'waitFor'>;
  readonly reads: Pick<IdentityReads, 'changedTenants'>;
  readonly changes: Pick<IdentityChanges, 'onChange'>;
  readonly onError: (error: unknown) => void;
};

/** Every tenant of the installation with its compiled access rules, in memory: requests read it synchronously. */
export type TenantDirectory = {
  /** @returns undefined when the tenant does not exist */
  state(slug: string): 'active' | 'disabled' | undefined;
  /** Tenant of a domain. `host` is in lower case without a port. */
  ofHost(host: string): string | undefined;
  readonly accessRules: AccessRules;
  /** Loads the read model and follows its changes. Resolves after the first attempt, also when that failed. */
  start(): Promise<void>;
  /**
   * Resolves when the directory shows the events up to the position, or when the read model has not applied them
   * within 5 seconds. Never rejects.
   */
  waitFor(position: GlobalPosition | undefined): Promise<void>;
  close(): void;
};

type TenantRecord = { readonly tenant: ChangedTenant['tenant']; readonly decide: CompiledAccessRules };

const RETRY_MS = 500;

/** Creates a directory that follows the identity read model. It is empty until `start`. */
export function createTenantDirectory({
  reads,
  progress,
  changes,
  onError,
}: TenantDirectoryDependencies): TenantDirectory {
  const entries = new Map<string, TenantRecord>();
  const hosts = new Map<string, string>();
  let lastPosition = '';
  let retry: NodeJS.Timeout | undefined;
  let stopListening: (() => void) | undefined;
  /** Each call sees what was committed before it. */
  const refresh = oneAtATime(load);

  async function load(): Promise<void> {
    for (const changedTenant of await reads.changedTenants(lastPosition)) {
      apply(changedTenant);
      if (changedTenant.position > lastPosition) lastPosition = changedTenant.position;
    }
  }

  function apply({ slug, tenant, rules }: ChangedTenant): void {
    for (const domain of entries.get(slug)?.tenant?.domains ?? []) if (hosts.get(domain) === slug) hosts.delete(domain);
    for (const domain of tenant?.domains ?? []) hosts.set(domain, slug);
    if (tenant === undefined && rules.length === 0) entries.delete(slug);
    else entries.set(slug, { tenant, decide: compileAccessRules(rules) });
  }

  /** Retries a failed load: no further notification may follow. */
  async function refreshWithRetry(): Promise<void> {
    clearTimeout(retry);
    try {
      await refresh();
    } catch (error) {
      onError(error);
      retry = setTimeout(() => void refreshWithRetry(), RETRY_MS);
      retry.unref();
    }
  }

  const withoutRules = compileAccessRules([]);

  return {
    state(slug) {
      const tenant = entries.get(slug)?.tenant;
      if (!tenant) return slug === DEFAULT_TENANT ? 'active' : undefined;
      return tenant.disabled ? 'disabled' : 'active';
    },
    ofHost: (host) => hosts.get(host),
    accessRules: {
      decide(question) {
        const { roles } = question;
        return roles.length === 0 ? REFUSED : (entries.get(question.tenant)?.decide ?? withoutRules)(question);
      },
    },
    start() {
      stopListening = changes.onChange(() => void refreshWithRetry());
      return refreshWithRetry();
    },
    async waitFor(position) {
      if (position === undefined) return;
      try {
        await waitForReadModel({ name: IDENTITY, position }, { progress });
        await refresh();
      } catch (error) {
        // The write has succeeded; a failed wait must not fail it.
        onError(error);
      }
    },
    close() {
      stopListening?.();
      clearTimeout(retry);
    },
  };
}
