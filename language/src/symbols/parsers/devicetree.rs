//! Devicetree.

use crate::symbols::{Kind, Line, Outline, Parent, Parser, Role, Token};

#[derive(Default)]
pub(crate) struct Devicetree {
    label: Option<u32>,
    last: Option<Token>,
}

impl Parser for Devicetree {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if let [first, name, ..] = line.tokens
            && outline.bytes(first.start..name.start).trim_ascii() == b"#define"
        {
            outline.define_in(Parent::None, name.range(), Kind::Macro);
            return;
        }
        for token in line.tokens {
            self.token(*token, outline);
            self.last = Some(*token);
        }
    }
}

impl Devicetree {
    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        match token.role {
            Role::Sign(b':') => {
                self.label = outline.define_token(self.last.filter(Token::is_word), Kind::Label);
            }
            Role::Sign(b'{') => outline.enter(self.label.take()),
            Role::Sign(b'}') => outline.leave(token.end),
            Role::Sign(b';') => self.label = None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn labels_of_devicetree() {
        check(
            "Devicetree",
            r#"/dts-v1/;
#include "base.dtsi"
#define SIZE 3
/ {
	#address-cells = <1>;
	uart0: serial@1000 {
		status = "okay";
		port: port { };
	};
};
&uart0 { clocks = <&clk 1>; };
"#,
            "macro SIZE 3
         label uart0 6-9
         label uart0.port 8",
        );
    }
}
