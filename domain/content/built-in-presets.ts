import type { JsonObject } from '../json.ts';
import { parsePreset } from './parse-preset.ts';
import type { Preset } from './preset-events.ts';

type Flags = Partial<Record<'required' | 'indexed' | 'unique', true>>;

const text = (name: string, more: JsonObject = {}): JsonObject => ({ name, field_type: 'text', ...more });
const field = (name: string, field_type: string, more: JsonObject = {}): JsonObject => ({ name, field_type, ...more });
const belongsTo = (name: string, relation_to: string, flags: Flags = {}): JsonObject => ({
  name,
  field_type: 'relation',
  relation_type: 'belongs_to',
  relation_to,
  ...flags,
});
const status = (first: string, ...others: readonly string[]): JsonObject =>
  text('status', {
    required: true,
    indexed: true,
    default: first,
    validation: [{ rule: 'enum', params: { values: [first, ...others] } }],
  });

const KEY = { required: true, indexed: true } as const;
const STAMPED = { with_created_at: true, with_updated_at: true } as const;

/** The presets that every installation has. They contain content types only, no behaviour. */
export const BUILT_IN_PRESETS: readonly Preset[] = [
  parsePreset({
    id: 'comments',
    name: 'Comments',
    description: 'Comments on entries of any content type, with replies, moderation and votes',
    schemas: [
      {
        name: 'comments',
        display_name: 'Comments',
        ...STAMPED,
        fields: [
          text('target_schema', KEY),
          text('target_id', KEY),
          belongsTo('parent', 'comments'),
          text('author_name'),
          field('author_email', 'email'),
          text('body', { required: true }),
          status('pending', 'approved', 'spam', 'rejected'),
        ],
      },
      {
        name: 'comment_votes',
        display_name: 'Comment votes',
        with_created_at: true,
        fields: [
          belongsTo('comment', 'comments', { required: true }),
          text('voter_key', KEY),
          field('value', 'number', { required: true }),
        ],
      },
    ],
  }),
  parsePreset({
    id: 'forms',
    name: 'Forms',
    description: 'Forms that editors define, and what visitors send in',
    schemas: [
      {
        name: 'forms',
        display_name: 'Forms',
        ...STAMPED,
        fields: [
          text('name', { required: true }),
          text('slug', { required: true, unique: true }),
          field('fields', 'json', { required: true }),
          field('notify_email', 'email'),
          field('active', 'boolean', { default: true }),
        ],
      },
      {
        name: 'form_submissions',
        display_name: 'Form submissions',
        with_created_at: true,
        fields: [
          belongsTo('form', 'forms', { required: true }),
          field('data', 'json', { required: true }),
          status('new', 'read', 'spam'),
        ],
      },
    ],
  }),
  parsePreset({
    id: 'seo',
    name: 'SEO',
    description: 'Titles, descriptions and cards of entries for search engines and social networks',
    schemas: [
      {
        name: 'seo_metadata',
        display_name: 'SEO metadata',
        ...STAMPED,
        fields: [
          text('entry_schema', KEY),
          text('entry_id', KEY),
          text('title'),
          text('description'),
          text('canonical_url'),
          text('robots', { default: 'index,follow' }),
          text('og_title'),
          text('og_description'),
          text('og_image'),
          text('twitter_card', { default: 'summary_large_image' }),
          field('structured_data', 'json'),
        ],
      },
    ],
  }),
];

export function builtInPreset(id: string): Preset | undefined {
  return BUILT_IN_PRESETS.find((preset) => preset.id === id);
}
