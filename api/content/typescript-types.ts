import type { ContentTypeDefinition, FieldDefinition } from '../../domain/content/definition.ts';
import { keyOf } from '../../domain/content/entry-fields.ts';
import { isManyToMany, isStored } from '../../domain/content/field-types.ts';
import { typeIdentifiers } from '../../domain/content/type-identifiers.ts';
import type { Json } from '../../domain/json.ts';

/**
 * TypeScript source with two interfaces for each content type, `<Name>` for reads and `<Name>Input` for writes, and the
 * interface `Schemas`, which types the client. A required field is typed as never null, although entries that were
 * stored before the field became required may have no value.
 */
export function typescriptTypes(definitions: readonly ContentTypeDefinition[]): string {
  const sorted = definitions.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const names = typeIdentifiers(
    sorted.map(({ name }) => name),
    { usedIdentifiers: ['Entry', 'Json', 'Schemas'], suffixes: ['Input'] },
  );
  const nameOf = (type: string | undefined): string | undefined => names.get(type ?? '');
  const interfaces = sorted.flatMap((definition) => {
    const name = nameOf(definition.name) ?? definition.name;
    const shown = comment(definition.display_name ?? definition.name);
    return [
      block(
        `/** Field values of ${shown}. */\nexport interface ${name}`,
        definition.fields.flatMap((field) => readMembers(field, nameOf)),
      ),
      block(
        `/** Field values to write for ${shown}. */\nexport interface ${name}Input`,
        definition.fields.filter(isStored).map(inputMember),
      ),
    ];
  });
  const schemas = sorted.map(
    ({ name }) =>
      `readonly ${name}: { readonly data: ${nameOf(name) ?? ''}; readonly input: ${nameOf(name) ?? ''}Input };`,
  );
  const body = [
    ...interfaces,
    block('/** Every content type by its name: `createClient<Schemas>(…)`. */\nexport interface Schemas', schemas),
  ].join('\n');
  const used = ['Entry', 'Json'].filter((name) => new RegExp(`\\b${name}\\b[<; |\\]]`).test(body));
  return `// Written by \`palimpsest types\`; run it again when content types change.\n${used.length === 0 ? '' : `import type { ${used.join(', ')} } from 'palimpsest/client';\n`}\n${body}`;
}

function readMembers(
  field: FieldDefinition,
  nameOf: (type: string | undefined) => string | undefined,
): readonly string[] {
  const target = nameOf(field.relation_to);
  const note = noteOf(field);
  if (field.field_type !== 'relation') return [`${note}readonly ${field.name}: ${orNull(field, valueType(field))};`];
  if (isManyToMany(field))
    return [
      `/** Ids; with \`populate\` the entries. */\n  readonly ${field.name}: readonly string[]${target === undefined ? '' : ` | readonly Entry<${target}>[]`};`,
    ];
  const whole =
    target === undefined
      ? []
      : [
          `/** With \`populate\`. */\n  readonly ${field.name}?: ${field.relation_type === 'has_many' ? `readonly Entry<${target}>[]` : `Entry<${target}> | null`};`,
        ];
  return isStored(field) ? [`${note}readonly ${keyOf(field)}: ${orNull(field, 'string')};`, ...whole] : whole;
}

function inputMember(field: FieldDefinition): string {
  const needed = field.required === true && field.default === undefined;
  const type = isManyToMany(field)
    ? 'readonly string[]'
    : field.field_type === 'decimal'
      ? `${valueType(field)} | number`
      : valueType(field);
  return `${noteOf(field)}readonly ${keyOf(field)}${needed ? '' : '?'}: ${isManyToMany(field) ? type : orNull(field, type)};`;
}

function valueType(field: FieldDefinition): string {
  const values = field.validation?.find(({ rule }) => rule === 'enum')?.params['values'];
  if (Array.isArray(values) && values.every(isLiteral))
    return values.map((value) => (typeof value === 'string' ? quoted(value) : JSON.stringify(value))).join(' | ');
  switch (field.field_type) {
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'json':
      return 'Json';
    default:
      return 'string';
  }
}

/** A doc comment with what the TypeScript type does not express, or an empty string. */
function noteOf({ field_type: type, relation_to: target, unique }: FieldDefinition): string {
  const notes = [
    ...(NOTES[type] === undefined ? [] : [NOTES[type]]),
    ...(type === 'relation' ? [`Id of an entry of ${target ?? ''}`] : []),
    ...(unique === true ? ['unique'] : []),
  ];
  return notes.length === 0 ? '' : `/** ${notes.join(', ')}. */\n  `;
}

const NOTES: { readonly [type in FieldDefinition['field_type']]?: string } = {
  date: 'YYYY-MM-DD',
  datetime: 'RFC 3339',
  time: 'HH:MM:SS',
  decimal: 'Decimal number',
  uuid: 'UUID',
  media: 'Id of a media file',
  url: 'http or https',
  email: 'E-mail address',
  rich_text: 'Rich text',
  integer: 'Integer',
};

function orNull({ required }: FieldDefinition, type: string): string {
  return required === true || type === 'Json' ? type : `${type} | null`;
}

function block(head: string, members: readonly string[]): string {
  return members.length === 0 ? `${head} {}\n` : `${head} {\n${members.map((member) => `  ${member}\n`).join('')}}\n`;
}

function isLiteral(value: Json): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** A string literal on one line. U+2028 and U+2029 are escaped: JSON allows them, older JavaScript does not. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** Text that a tenant has entered, made safe for a block comment. */
function comment(text: string): string {
  return text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ');
}
