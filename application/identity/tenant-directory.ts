import type { AccessRule } from '../../domain/identity/access-rule.ts';
import { HOME_TENANT } from '../../domain/identity/memberships.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { AccessRules } from '../ports/access-rules.ts';
import type { CompiledAccessRules } from './compile-access-rules.ts';
import { REFUSED, compileAccessRules } from './compile-access-rules.ts';
import { IDENTITY } from './dependencies.ts';
import type { IdentityChanges } from './identity-changes.ts';

/** A tenant and its rules as the read model holds them; `tenant` is undefined where it was deleted or is not made yet. */
export type ChangedTenant = {
  readonly slug: string;
  /** Of the last event that changed it. */
  readonly position: string;
  readonly tenant: { readonly domains: readonly string[]; readonly disabled: boolean } | undefined;
  readonly rules: readonly AccessRule[];
};

export type TenantDirectoryDependencies = {
  readonly reads: {
    /** Tenants that changed after a position, all of them without one. */
    changedTenants(after: string): Promise<readonly ChangedTenant[]>;
  };
  readonly progress: { waitFor(names: readonly string[], position: GlobalPosition, timeoutMs: number): Promise<boolean> };
  readonly changes: Pick<IdentityChanges, 'onChange'>;
  readonly onError: (error: unknown) => void;
};

/** Every tenant of the install in memory, with its access rules compiled: what each request asks is answered without a promise (rule 14). */
export type TenantDirectory = {
  /** @returns undefined when there is no such tenant */
  state(slug: string): 'active' | 'disabled' | undefined;
  /** Tenant that has the domain, given in lower case and without a port. */
  ofHost(host: string): string | undefined;
  readonly accessRules: AccessRules;
  /** Takes in what the read model holds now, and follows it from then on. Resolves after the first try, whatever became of it. */
  start(): Promise<void>;
  /** Resolves when what was appended at the position holds here; after 5 seconds in any case, and when the read model has stopped. */
  caughtUp(position: GlobalPosition | undefined): Promise<void>;
  close(): void;
};

type Known = { readonly tenant: ChangedTenant['tenant']; readonly decide: CompiledAccessRules };

const CATCH_UP_MS = 5_000;
const RETRY_MS = 500;

/** Follows the identity read model: other processes' changes arrive as fast as it is heard to have moved. Empty until `start`. */
export function createTenantDirectory({ reads, progress, changes, onError }: TenantDirectoryDependencies): TenantDirectory {
  const known = new Map<string, Known>();
  const hosts = new Map<string, string>();
  let seen = '';
  let retry: NodeJS.Timeout | undefined;
  let stopListening: (() => void) | undefined;
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  /** One look after the other; those who ask before one begins share it, so that each sees what is committed when it asks. */
  function refresh(): Promise<void> {
    next ??= last = last.catch(() => undefined).then(() => {
      next = undefined;
      return look();
    });
    return next;
  }

  async function look(): Promise<void> {
    for (const changed of await reads.changedTenants(seen)) {
      take(changed);
      if (changed.position > seen) seen = changed.position;
    }
  }

  function take({ slug, tenant, rules }: ChangedTenant): void {
    for (const domain of known.get(slug)?.tenant?.domains ?? []) if (hosts.get(domain) === slug) hosts.delete(domain);
    for (const domain of tenant?.domains ?? []) hosts.set(domain, slug);
    if (tenant === undefined && rules.length === 0) known.delete(slug);
    else known.set(slug, { tenant, decide: compileAccessRules(rules) });
  }

  /** What could not be read is asked for again: nobody may tell of it a second time. */
  async function keepUp(): Promise<void> {
    clearTimeout(retry);
    try {
      await refresh();
    } catch (error) {
      onError(error);
      retry = setTimeout(() => void keepUp(), RETRY_MS);
      retry.unref();
    }
  }

  const withoutRules = compileAccessRules([]);

  return {
    state(slug) {
      const tenant = known.get(slug)?.tenant;
      if (!tenant) return slug === HOME_TENANT ? 'active' : undefined;
      return tenant.disabled ? 'disabled' : 'active';
    },
    ofHost: (host) => hosts.get(host),
    accessRules: {
      decide(question) {
        const { roles } = question;
        return roles.length === 0 ? REFUSED : (known.get(question.tenant)?.decide ?? withoutRules)(question);
      },
    },
    start() {
      stopListening = changes.onChange(() => void keepUp());
      return keepUp();
    },
    async caughtUp(position) {
      if (position === undefined) return;
      try {
        await progress.waitFor([IDENTITY], position, CATCH_UP_MS);
        await refresh();
      } catch (error) {
        // The write is done whatever became of the read model; the answer says how far that is.
        onError(error);
      }
    },
    close() {
      stopListening?.();
      clearTimeout(retry);
    },
  };
}
