//! Outlines of Objective-C.

use crate::symbols::tests::check;

#[test]
fn methods_of_objective_c() {
    check(
        "Objective-C",
        r#"#import <Foundation/Foundation.h>
@class Later, Other;
@protocol Drawable;
@protocol Shape <NSObject>
- (void)draw;
@optional
- (int)area:(int)a other:(int)b;
@end
@interface Square : NSObject <Shape>
{
    int width;
    NSString *name;
}
@property (nonatomic, copy) NSString *title;
+ (instancetype)make;
- (int)grow:(int)a
      other:(int)b;
@end
@interface Square (Extra)
- (void)extra;
@end
static int helper(int a) { return a; }
@implementation Square
@synthesize title = _title;
+ (instancetype)make {
    return [[self alloc] init];
}
- (int)grow:(int)a other:(int)b
{
    void (^block)(int) = ^(int x) { };
    return a;
}
static void inside(void) { }
@end
typedef NS_ENUM(NSInteger, Mode) { ModeOne, ModeTwo };
int main(void) { @autoreleasepool { } return 0; }
"#,
        "class Later; 2
         class Other; 2
         interface Drawable; 3
         interface Shape 4-8
         method Shape.draw; 5
         method Shape.area; 7
         class Square 9-18
         field Square.width 11
         field Square.name 12
         field Square.title 14
         method Square.make; 15
         method Square.grow; 16
         class Square 19-21
         method Square.extra; 20
         function helper 22
         implementation Square 23-34
         method Square.make 25-27
         method Square.grow 28-32
         function Square.inside 33
         enum Mode 35
         enumerator Mode.ModeOne 35
         enumerator Mode.ModeTwo 35
         function main 36",
    );
}
