import { Type } from '@sinclair/typebox';
import { Id, NullableText, NullableTimestamp, Texts, Timestamp, oneOf, strict } from '../http/schemas.ts';

/** JSON Schemas of entries, lists and revisions, and of the parameters and bodies of their routes. */

const EntryActor = Type.Object({ kind: Type.String({ examples: ['user'] }), id: Type.String() });
const Data = Type.Object(
  {},
  { additionalProperties: true, description: 'Field values', examples: [{ title: 'First light' }] },
);

export const Entry = Type.Object(
  {
    id: Id,
    schema_name: Type.String({ examples: ['article'] }),
    slug: Type.Optional(Type.String()),
    status: Type.Optional(oneOf(['draft', 'published', 'archived'])),
    data: Data,
    version: Type.Integer({ minimum: 1 }),
    created_at: Timestamp,
    updated_at: Timestamp,
    published_at: Type.Optional(NullableTimestamp),
    deleted_at: Type.Optional(Timestamp),
    created_by: EntryActor,
    updated_by: EntryActor,
    resolved_locale: Type.Optional(Type.String({ description: 'Present when the request asks for a locale' })),
  },
  { title: 'Entry' },
);

/** The response of a write. A caller that may not read the entry gets `id`, `version` and `status` only. */
export const WrittenEntry = Type.Object(
  { ...Type.Partial(Entry).properties, id: Entry.properties.id, version: Entry.properties.version },
  {
    title: 'WrittenEntry',
    description: 'The entry after a write. Without the right to read it: id, version and status only',
  },
);

export const EntryList = Type.Array(Entry);
export const EntryPage = Type.Object({
  data: EntryList,
  next_cursor: Type.String({ description: 'Empty on the last page' }),
});

const Revision = Type.Object({
  id: Id,
  version: Type.Integer(),
  action: Type.String(),
  actor: EntryActor,
  created_at: Timestamp,
  changed: Texts,
});
export const RevisionList = Type.Array(Revision);
export const RevisionWithData = Type.Object({ ...Revision.properties, data: Data });
export const Diff = Type.Object({
  changes: Type.Array(Type.Object({ field: Type.String(), from: Type.Unknown(), to: Type.Unknown() })),
});

export const Blame = Type.Object({
  data: Type.Array(
    Type.Object({
      field: Type.String(),
      value: Type.Unknown(),
      version: Type.Integer({ minimum: 1 }),
      at: Timestamp,
      actor: EntryActor,
      credential: Type.Object({ kind: Type.String(), id: NullableText }),
      correlation_id: Type.String(),
      event_id: Id,
    }),
  ),
});

export const CreatedEntries = Type.Object({ created: Type.Integer(), data: Type.Array(WrittenEntry) });

/**
 * Path parameters. Ids are plain strings here: the handler refuses an id that is not a UUID with 404, after the access
 * checks.
 */
export const SchemaParams = Type.Object({ schema: Type.String() });
export const EntryParams = Type.Object({ schema: Type.String(), id: Type.String() });
export const RelationParams = Type.Object({ schema: Type.String(), id: Type.String(), field: Type.String() });
export const RevisionParams = Type.Object({ schema: Type.String(), id: Type.String(), rev_id: Type.String() });
export const DiffParams = Type.Object({ schema: Type.String(), id: Type.String(), a: Type.String(), b: Type.String() });

export const EntryBody = Type.Object({ data: Data }, { title: 'EntryInput', ...strict });
export const BulkBody = Type.Object({ entries: Type.Array(EntryBody) }, strict);

export const RelationBody = Type.Object({ ids: Texts }, strict);
export const RelatedEntries = Type.Object({
  data: EntryList,
  total: Type.Integer({ description: 'Number of related entries that the caller may see' }),
});

const text = (description: string, example: string) => Type.Optional(Type.String({ description, examples: [example] }));
const Limit = text('1 to 200; default 25', '25');
const PageLimit = text('1 to 1000; a larger number counts as 20; default 20', '100');
const Offset = text('Number of entries to skip; default 0', '0');
const Count = text('true adds the header X-Total-Count', 'true');
const Sort = text('Up to 5 field names; a leading - sorts descending; default -created_at', '-published_at,title');
const Fields = text('Names of the members of data to return; default: all', 'title,slug');
const Cursor = text('next_cursor of the previous page; absent or empty for the first page', '');
const Filters = Type.Optional(
  Type.Unsafe<unknown>({ description: 'filters[<field>]=<value>, filters[<field>][$op]=<value>' }),
);
const Populate = {
  populate: Type.Optional(Type.String({ description: 'Names of relations to return as whole entries, or *' })),
  depth: Type.Optional(Type.String({ description: '1 to 3; default 1' })),
};
const Locale = Type.Optional(
  Type.String({ description: 'Language tag such as fr or pt-BR; default: Accept-Language' }),
);
const AsOf = Type.Optional(Type.String({ description: 'A point in time in the past, RFC 3339, inclusive' }));
const Search = Type.Optional(
  Type.String({
    description: 'Words that the text and rich_text fields must all contain; supports "a phrase", or, -without',
  }),
);
const Common = {
  count: Count,
  sort: Sort,
  fields: Fields,
  filters: Filters,
  q: Search,
  as_of: AsOf,
  locale: Locale,
  ...Populate,
};

export const EntryListQuery = Type.Object({ limit: Limit, offset: Offset, ...Common }, strict);
export const EntryPageQuery = Type.Object({ limit: PageLimit, cursor: Cursor, ...Common }, strict);
export const SingleEntryQuery = Type.Object({ fields: Fields, as_of: AsOf, locale: Locale, ...Populate }, strict);
export const RelatedQuery = Type.Object({ limit: Limit, offset: Offset }, strict);
export const RevisionQuery = Type.Object({ limit: Limit, offset: Offset, count: Count }, strict);
