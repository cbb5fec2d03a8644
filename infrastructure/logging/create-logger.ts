import winston from 'winston';
import type { Logger } from '../../application/ports/logger.ts';
import { ownValue } from '../../domain/own-value.ts';
import { createBufferedOutput } from './buffered-output.ts';
import { redact } from './redact.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

export type CreateLoggerOptions = {
  readonly level: LogLevel;
  readonly format: 'json' | 'pretty';
  /** File descriptor, written asynchronously. Default: 2, because commands print their results to standard output. */
  readonly descriptor?: 1 | 2;
  /** Overrides `descriptor`. */
  readonly stream?: NodeJS.WritableStream;
};

export type ProcessLogger = Logger & {
  /** Writes buffered lines synchronously. For the end of the process. */
  flush(): void;
};

const LEVELS: Readonly<Record<LogLevel, number>> = { error: 0, warn: 1, info: 2, debug: 3 };

/**
 * Creates the logger of the process (winston). Each call writes one line: JSON with `timestamp`, `level`, `message` and
 * the fields, or readable text. Secrets are redacted. Logging never blocks the caller; calls below the level do
 * nothing.
 */
export function createLogger({ level, format, descriptor = 2, stream }: CreateLoggerOptions): ProcessLogger {
  const output = stream ? undefined : createBufferedOutput({ descriptor });
  const target = stream ?? output;
  if (!target) throw new Error('unreachable');
  const logger = winston.createLogger({
    level,
    format: winston.format.combine(winston.format.timestamp(), format === 'json' ? winston.format.json() : pretty),
    transports: [new winston.transports.Stream({ stream: target })],
    exitOnError: false,
  });
  return { ...wrap(logger, LEVELS[level], {}), flush: () => output?.flushNow() };
}

function wrap(logger: winston.Logger, most: number, bound: Readonly<Record<string, unknown>>): Logger {
  const at = (level: LogLevel) => {
    if (LEVELS[level] > most) return () => undefined;
    return (message: string, fields?: Readonly<Record<string, unknown>>) => {
      logger.log({ ...plain(redact({ ...bound, ...fields })), level, message });
    };
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => wrap(logger, most, { ...bound, ...fields }),
  };
}

function plain(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

const COLOURS: Readonly<Record<string, string>> = {
  error: '\u001b[31m',
  warn: '\u001b[33m',
  info: '\u001b[32m',
  debug: '\u001b[90m',
};

/** Format `12:00:00.000 info  message key=value`, followed by the stack of an error. */
const pretty = winston.format.printf(({ timestamp, level, message, error, ...fields }) => {
  const time = typeof timestamp === 'string' ? timestamp.slice(11, 23) : '';
  const rest = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return `${time} ${ownValue(COLOURS, level) ?? ''}${level.padEnd(5)}\u001b[0m ${String(message)}${rest.join('')}${showError(error)}`;
});

function showError(error: unknown): string {
  if (error === undefined) return '';
  if (typeof error === 'object' && error !== null && 'stack' in error && typeof error.stack === 'string')
    return `\n${error.stack}`;
  return ` error=${typeof error === 'string' ? error : JSON.stringify(error)}`;
}
