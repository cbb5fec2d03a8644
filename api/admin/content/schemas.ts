import { Type } from '@sinclair/typebox';
import { EntrySchema } from '../../content/entry-schemas.ts';

/** JSON Schemas of entries in the console. */

const Nullable = Type.Union([Type.String(), Type.Null()]);
const Data = Type.Object({}, { additionalProperties: true });
/** For null and blank text a slug is made from the title. */
const Slug = Type.Optional(Type.Union([Type.String({ maxLength: 1020 }), Type.Null()]));

export const AdminEntrySchema = Type.Object(
  { ...EntrySchema.properties, title: Nullable, slug: Nullable },
  { title: 'AdminEntry' },
);
export const AdminEntryPage = Type.Object({
  data: Type.Array(AdminEntrySchema),
  total: Type.Integer(),
  limit: Type.Integer(),
  offset: Type.Integer(),
});

export const NewAdminEntryBody = Type.Object(
  {
    schema_name: Type.String(),
    data: Data,
    slug: Slug,
    status: Type.Optional(Type.Union([Type.Literal('draft'), Type.Literal('published')])),
  },
  { additionalProperties: false },
);
export const AdminEntryBody = Type.Object({ data: Type.Optional(Data), slug: Slug }, { additionalProperties: false });

export const IdParams = Type.Object({ id: Type.String() });
export const RevisionParams = Type.Object({ id: Type.String(), rev_id: Type.String() });
export const DiffParams = Type.Object({ id: Type.String(), a: Type.String(), b: Type.String() });

const Text = Type.Optional(Type.String());
export const AdminListQuery = Type.Object(
  { schema: Text, status: Text, q: Text, locale: Text, limit: Text, offset: Text },
  { additionalProperties: false },
);
export const LocaleQuery = Type.Object({ locale: Text }, { additionalProperties: false });
export const SlugQuery = Type.Object({ schema: Text, locale: Text }, { additionalProperties: false });
