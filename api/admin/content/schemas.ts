import { Type } from '@sinclair/typebox';
import { Entry, WrittenEntry } from '../../content/entry-schemas.ts';
import { AnyMembers, NullableText, nullable, oneOf, strict } from '../../http/schemas.ts';

/** JSON Schemas of entries in the console. */

/** For null and blank text a slug is made from the title. */
const Slug = Type.Optional(nullable(Type.String({ maxLength: 1020 })));

export const AdminEntry = Type.Object(
  { ...Entry.properties, title: NullableText, slug: NullableText },
  { title: 'AdminEntry' },
);
/** The response of a write. A caller that may not read the entry gets `id`, `version` and `status` only. */
export const WrittenAdminEntry = Type.Object(
  { ...WrittenEntry.properties, title: Type.Optional(NullableText), slug: Type.Optional(NullableText) },
  { title: 'WrittenAdminEntry', description: WrittenEntry.description ?? '' },
);
export const AdminEntryPage = Type.Object({
  data: Type.Array(AdminEntry),
  total: Type.Integer(),
  limit: Type.Integer(),
  offset: Type.Integer(),
});

export const NewAdminEntryBody = Type.Object(
  {
    schema_name: Type.String(),
    data: AnyMembers,
    slug: Slug,
    status: Type.Optional(oneOf(['draft', 'published'])),
  },
  strict,
);
export const AdminEntryBody = Type.Object({ data: Type.Optional(AnyMembers), slug: Slug }, strict);

/** Any text: an id that is not a UUID is refused after the access checks. */
export const EntryParams = Type.Object({ id: Type.String() });
export const RevisionParams = Type.Object({ id: Type.String(), rev_id: Type.String() });
export const DiffParams = Type.Object({ id: Type.String(), a: Type.String(), b: Type.String() });

const Text = Type.Optional(Type.String());
export const AdminListQuery = Type.Object(
  { schema: Text, status: Text, q: Text, locale: Text, limit: Text, offset: Text },
  strict,
);
export const LocaleQuery = Type.Object({ locale: Text }, strict);
export const SlugQuery = Type.Object({ schema: Text, locale: Text }, strict);
