import type { CommandContext } from '../../domain/context.ts';
import { DEFAULT_ACCESS_RULE } from '../../domain/identity/access-rule.ts';
import { appendAccessRules } from './decide-on-access-rules.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';

/** Creates the access rule that a new tenant starts with. Does nothing when the tenant has ever had rules. */
export async function createFirstAccessRule(
  { tenant }: { readonly tenant: string },
  context: CommandContext,
  { eventStore }: Pick<IdentityWriteDependencies, 'eventStore'>,
): Promise<void> {
  await appendAccessRules(
    {
      commandFor: (_rules, revision) =>
        revision < 0 ? { kind: 'put', rule: DEFAULT_ACCESS_RULE, newId: context.newId() } : undefined,
    },
    { ...context, tenant },
    { eventStore },
  );
}
