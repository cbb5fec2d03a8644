import type { Setting } from './setting.ts';
import { SETTINGS } from './settings/index.ts';

/** The table of settings as Markdown, for the README. */
export function settingsTable(): string {
  const rows = Object.values<Setting<unknown>>(SETTINGS).map(
    ({ name, parser, shownDefault, description, secret }) => `| \`${name}\` | ${cell(description)}${secret ? ' Secret.' : ''} | ${cell(parser.kind)} | ${cell(shownDefault)} |`,
  );
  return ['| Variable | Meaning | Type | Default |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
