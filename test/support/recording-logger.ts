import type { Logger } from '../../application/ports/logger.ts';

export type LoggedLine = {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
};

/** A logger that keeps its lines for assertions. */
export function recordingLogger(
  lines: LoggedLine[] = [],
  bound: Readonly<Record<string, unknown>> = {},
): Logger & { readonly lines: readonly LoggedLine[] } {
  const write =
    (level: LoggedLine['level']) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      lines.push({ level, message, fields: { ...bound, ...fields } });
    };
  return {
    lines,
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => recordingLogger(lines, { ...bound, ...fields }),
  };
}
