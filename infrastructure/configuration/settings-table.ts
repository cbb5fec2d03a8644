import type { Setting } from './setting.ts';
import { SETTINGS } from './settings/index.ts';

/** Note of the table on the layers that may set a setting. */
const WHERE = { all: '', start: ' Not in the console.', environment: ' Environment only.' } as const;

/** The table of settings as Markdown, for docs/configuration.md. */
export function settingsTable(): string {
  const rows = Object.values<Setting<unknown>>(SETTINGS).map(
    ({ name, parser, shownDefault, description, secret, layers }) =>
      `| \`${name}\` | ${cell(description)}${secret ? ' Secret.' : ''}${WHERE[layers]} | ${cell(parser.kind)} | ${cell(shownDefault)} |`,
  );
  return ['| Variable | Meaning | Type | Default |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
