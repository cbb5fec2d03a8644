import { FIELD_TYPES } from '../../domain/content/definition.ts';

const RULES: Readonly<Record<string, readonly object[]>> = {
  text: [
    { rule: 'min_length', params: { value: 2 } },
    { rule: 'max_length', params: { value: 80 } },
    { rule: 'pattern', params: { pattern: '^[A-Z]' } },
  ],
  rich_text: [{ rule: 'enum', params: { values: ['short', 'long'] } }],
  number: [
    { rule: 'min', params: { value: 0.5 } },
    { rule: 'max', params: { value: 99.5 } },
  ],
  integer: [{ rule: 'enum', params: { values: [1, 2, 3] } }],
  decimal: [{ rule: 'min', params: { value: '0.00' } }],
  date: [{ rule: 'min', params: { value: '2020-01-01' } }],
};

/**
 * Content types with every field type, every validation rule and every kind of relation: `whole` has all of them,
 * `part` belongs to it. Create `TAG` first, then these, then `WHOLE_WITH_PARTS`.
 */
export const EVERY_FIELD = [
  {
    name: 'whole',
    display_name: 'Everything',
    with_draft_publish: true,
    with_soft_delete: true,
    fields: [
      ...FIELD_TYPES.filter((type) => type !== 'relation').map((type) => ({
        name: `a_${type}`,
        field_type: type,
        ...(RULES[type] ? { validation: RULES[type] } : {}),
      })),
      { name: 'title', field_type: 'text', required: true, unique: true, validation: RULES['text'] },
      {
        name: 'kind',
        field_type: 'text',
        required: true,
        default: 'a',
        validation: [{ rule: 'enum', params: { values: ['a', 'b'] } }],
      },
      { name: 'greedy', field_type: 'text', validation: [{ rule: 'pattern', params: { pattern: '(?i)^z' } }] },
      { name: 'until', field_type: 'date', validation: [{ rule: 'compare', params: { op: 'gte', field: 'a_date' } }] },
      { name: 'tags', field_type: 'relation', relation_to: 'tag', relation_type: 'many_to_many' },
      { name: 'first', field_type: 'relation', relation_to: 'tag', relation_type: 'belongs_to', required: true },
    ],
  },
  {
    name: 'part',
    fields: [
      { name: 'text', field_type: 'text' },
      { name: 'owner', field_type: 'relation', relation_to: 'whole', relation_type: 'belongs_to' },
    ],
  },
] as const;

/** The target of the relations of `whole`. */
export const TAG = { name: 'tag', fields: [{ name: 'label', field_type: 'text', required: true }] } as const;

/** `whole` with the inverse relations of `part`. */
export const WHOLE_WITH_PARTS = {
  ...EVERY_FIELD[0],
  fields: [
    ...EVERY_FIELD[0].fields,
    { name: 'parts', field_type: 'relation', relation_to: 'part', relation_type: 'has_many', relation_field: 'owner' },
    {
      name: 'one_part',
      field_type: 'relation',
      relation_to: 'part',
      relation_type: 'has_one',
      relation_field: 'owner',
    },
  ],
} as const;
