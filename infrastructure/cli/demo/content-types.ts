/** Content types of the demo: packages and their documents. */
export const demoContentTypes = [
  {
    name: 'package',
    display_name: 'Package',
    with_created_at: true,
    with_updated_at: true,
    fields: [
      { name: 'name', field_type: 'text', required: true, unique: true, indexed: true },
      { name: 'version_number', field_type: 'text', required: true },
      { name: 'description', field_type: 'text' },
      { name: 'license', field_type: 'text', indexed: true },
      { name: 'homepage', field_type: 'url' },
      { name: 'bytes', field_type: 'integer', indexed: true },
    ],
  },
  {
    name: 'document',
    display_name: 'Document',
    with_created_at: true,
    with_updated_at: true,
    fields: [
      { name: 'title', field_type: 'text', required: true },
      {
        name: 'kind',
        field_type: 'text',
        required: true,
        indexed: true,
        validation: [{ rule: 'enum', params: { values: ['readme', 'changelog'] } }],
      },
      { name: 'body', field_type: 'rich_text' },
      { name: 'package', field_type: 'relation', relation_to: 'package', relation_type: 'belongs_to', required: true },
    ],
  },
] as const;
