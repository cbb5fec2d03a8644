const DECIMAL = /^(-?)(\d{1,1000})(?:\.(\d{1,1000}))?$/;

/**
 * A decimal in stored form: plain digits without leading zeros and without a sign of zero. The scale is kept.
 * @returns undefined when the text is not a decimal
 */
export function parseDecimal(text: string): string | undefined {
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction] = match;
  const digits = whole.replace(/^0+(?=\d)/, '');
  const magnitude = fraction === undefined ? digits : `${digits}.${fraction}`;
  return /[1-9]/.test(magnitude) ? sign + magnitude : magnitude;
}

/**
 * Compares two stored decimals exactly.
 * @returns a negative number, zero or a positive number
 */
export function compareDecimals(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  if (left.negative !== right.negative) return left.negative ? -1 : 1;
  const width = Math.max(left.fraction.length, right.fraction.length);
  const [x, y] = [scaled(left, width), scaled(right, width)];
  const order = x < y ? -1 : x > y ? 1 : 0;
  return left.negative ? -order : order;
}

/** A text that is the same for equal decimals, such as `1.50` and `1.5`. */
export function canonicalDecimal(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

type Parts = { readonly negative: boolean; readonly whole: string; readonly fraction: string };

function parts(text: string): Parts {
  const negative = text.startsWith('-');
  const [whole = '0', fraction = ''] = (negative ? text.slice(1) : text).split('.');
  return { negative, whole, fraction };
}

function scaled({ whole, fraction }: Parts, width: number): bigint {
  return BigInt(whole + fraction.padEnd(width, '0'));
}
