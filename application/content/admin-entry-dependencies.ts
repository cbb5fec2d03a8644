import type { EntrySlugs } from '../ports/entry-slugs.ts';
import type { EntryDependencies } from './run-entry-command.ts';

/** Writes entries from the console. Such an entry gets a slug: the given one, or one made from its title. */
export type AdminEntryDependencies = EntryDependencies & { readonly slugs: EntrySlugs };
